import { css } from '@emotion/css';
import type { GrafanaTheme2 } from '@grafana/data';
import { PluginPage } from '@grafana/runtime';
import { LinkButton, TextLink, useStyles2 } from '@grafana/ui';
import React from 'react';
import { Query } from './Query.tsx';

const RAW_COUNTERS = 'llmbench_time_to_first_token_seconds_bucket{run_id="$run"}';
const RATES = 'sum by (le) (rate(vllm:time_to_first_token_seconds_bucket[$__rate_interval]))';
const RUNS = 'llmbench_run_phase == 1';

/** What the plugin is and how to get the first picture out of it. */
export default function StartPage() {
  const styles = useStyles2(getStyles);
  return (
    <PluginPage>
      <div className={styles.page}>
        <p>
          llmbench measures LLM inference servers and puts the result into Prometheus, beside the servers&apos; own
          metrics. This app brings the panel <b>LLM percentiles</b>: it draws percentiles of a Prometheus histogram over
          time together with the interval in which each of them lies.
        </p>
        <h3>Add the panel</h3>
        <ol>
          <li>
            Connect Grafana to the Prometheus that scrapes llmbench or your inference servers.
            <div>
              <LinkButton href="/connections/datasources/new" variant="secondary" size="sm" icon="plus">
                Add a data source
              </LinkButton>
            </div>
          </li>
          <li>
            <TextLink href="/dashboard/new">Create a dashboard</TextLink>, add a panel and choose the visualization{' '}
            <b>LLM percentiles</b>.
          </li>
          <li>
            Query the raw counters of a histogram, format <i>Time series</i>. The panel takes the differences between
            samples itself, so its intervals are certain.
            <Query text={RAW_COUNTERS} />
          </li>
          <li>
            To show runs as regions, add a dashboard annotation with this Prometheus query and the title{' '}
            <code>{'run {{run_id}} {{phase}}'}</code>.
            <Query text={RUNS} />
          </li>
        </ol>
        <h3>Which series it reads</h3>
        <p>
          Every classic Prometheus histogram: series that end in <code>_bucket</code> and have the label <code>le</code>
          , <code>+Inf</code> included. Each set of the other labels becomes lines of its own.
        </p>
        <p>
          Many series in one line need <code>rate()</code> or <code>increase()</code>. These extrapolate, so the panel
          then shows the estimate with the <i>bucket of the estimate</i>, which is not a bound, and hatches it. Formats{' '}
          <i>Time series</i> and <i>Heatmap</i> both work.
          <Query text={RATES} />
        </p>
        <p>
          A percentile above the last finite bucket is shown as <b>&gt; edge</b>: the buckets hold no more than that.
          Native histograms are not supported yet.
        </p>
      </div>
    </PluginPage>
  );
}

const getStyles = (theme: GrafanaTheme2) => ({
  page: css({
    maxWidth: 820,
    h3: { marginTop: theme.spacing(3) },
    ol: { paddingLeft: theme.spacing(3) },
    'li, p': { marginBottom: theme.spacing(1.5), lineHeight: 1.6 },
    'li > div': { marginTop: theme.spacing(0.5) },
  }),
});
