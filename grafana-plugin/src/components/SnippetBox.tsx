import { css, cx } from '@emotion/css';
import type { GrafanaTheme2 } from '@grafana/data';
import { ClipboardButton, useStyles2 } from '@grafana/ui';
import React, { type ReactNode } from 'react';
import { t } from '../text.ts';

interface Props {
  title: string;
  text: string;
  /** Takes the whole width of the grid. */
  isWide?: boolean;
  /** Long lines continue on the next one; otherwise the box scrolls. */
  wraps?: boolean;
}

/** A snippet with a copy button. */
export function SnippetBox({ title, text, isWide = false, wraps = false }: Props) {
  const styles = useStyles2(getStyles);
  return (
    <figure className={cx(styles.box, isWide && styles.wide)}>
      <figcaption className={styles.head}>
        <span>{title}</span>
        <ClipboardButton
          getText={() => text}
          size="sm"
          variant="secondary"
          icon="copy"
          aria-label={t('snippet.copy-what', 'Copy: {{title}}', { title })}
        >
          {t('snippet.copy', 'Copy')}
        </ClipboardButton>
      </figcaption>
      <pre className={cx(styles.text, wraps && styles.wraps)} tabIndex={0} role="group" aria-label={title}>
        {wraps ? words(text, styles.word) : text}
      </pre>
    </figure>
  );
}

/** A line ends between words, not at the hyphens of an option. */
function words(text: string, className: string): ReactNode {
  return text.split(/(\s+)/).map((part, i) =>
    i % 2 === 0 ? (
      <span key={i} className={className}>
        {part}
      </span>
    ) : (
      part
    )
  );
}

const getStyles = (theme: GrafanaTheme2) => ({
  box: css({ margin: 0, minWidth: 0 }),
  wide: css({ gridColumn: '1 / -1' }),
  head: css({
    display: 'flex',
    justifyContent: 'space-between',
    alignItems: 'center',
    gap: theme.spacing(1),
    marginBottom: theme.spacing(0.5),
  }),
  text: css({
    fontSize: theme.typography.bodySmall.fontSize,
    overflow: 'auto',
    whiteSpace: 'pre',
    wordBreak: 'normal',
    margin: 0,
  }),
  wraps: css({ '&&': { whiteSpace: 'pre-wrap' } }),
  word: css({ display: 'inline-block', maxWidth: '100%', overflowWrap: 'anywhere' }),
});

/** A configuration to copy. */
export interface Snippet {
  id: 'scrape' | 'data-source' | 'app' | 'run' | 'baseline';
  language: string;
  text: string;
}

/** Lets editors in Grafana change baselines: the exporter wants its token for every change. */
export const BASELINE_CHANGES = `openssl rand -hex 32 > api-token
npx llmbench-observability serve --api-token-file api-token --allow-baseline-changes`;

/** The commands of the first run: the exporter, and a benchmark. */
export function firstRunCommands(): { serve: string; run: string } {
  return {
    serve: 'npx llmbench-observability serve',
    run: 'npx llmbench-observability run --url http://localhost:8000 --model MODEL --concurrency 8 --request-count 200',
  };
}

/** `exporter` is the host and port of `llmbench serve`. */
export function snippets(exporter = '127.0.0.1:9469'): Snippet[] {
  return [
    {
      id: 'run',
      language: 'bash',
      text: Object.values(firstRunCommands()).join('\n'),
    },
    {
      id: 'scrape',
      language: 'yaml',
      text: `global:
  scrape_interval: 15s
  evaluation_interval: 5s

rule_files:
  - 'rules/*.yml'
  - 'alerts/*.yml'

scrape_configs:
  # llmbench serve: state of finished runs, verdicts on scenarios, and the results of runs that are new.
  - job_name: llmbench
    scrape_interval: 5s
    scrape_timeout: 5s
    params:
      collect[]: [current]
    static_configs:
      - targets: ['${exporter}']

  # The exact results of all finished runs: a large page that seldom changes.
  - job_name: llmbench-results
    scrape_interval: 60s
    params:
      collect[]: [results]
    static_configs:
      - targets: ['${exporter}']

  # Running runs and the servers that they measure. /sd gives each target its job and its path, and so the labels of a
  # target win over those of its page (honor_labels: false).
  - job_name: llmbench-discovered
    scrape_interval: 2s
    scrape_timeout: 2s
    honor_labels: false
    http_sd_configs:
      - url: 'http://${exporter}/sd'
        refresh_interval: 5s
    metric_relabel_configs:
      # Where Prometheus negotiates OpenMetrics, SGLang's client library writes sglang_ for sglang: (client_python 1177).
      - source_labels: [__name__]
        regex: 'sglang_(.+)'
        target_label: __name__
        replacement: 'sglang:$1'
      # Engines inside Ray, without the sums of histograms, which Ray makes of the middles of the buckets.
      - source_labels: [otel_scope_name, __name__]
        regex: 'ray[.].+;.+_sum'
        action: drop
      - source_labels: [__name__]
        regex: 'ray_(vllm|sglang)[:_](.+)'
        target_label: __name__
        replacement: '$1:$2'
      # TensorRT-LLM before 1.3.0 has no prefix. NIM, which has the same names, has no such label.
      - source_labels: [engine_type, __name__]
        regex: '.+;((request_success|(e2e_request_latency|time_to_first_token|time_per_output_token|request_queue_time)_seconds)_.+)'
        target_label: __name__
        replacement: 'trtllm_$1'`,
    },
    {
      id: 'data-source',
      language: 'yaml',
      text: `# provisioning/datasources/llmbench.yaml
apiVersion: 1
datasources:
  - name: llmbench runs
    uid: llmbench-runs
    type: llmbench-runs-datasource
    access: proxy
    url: http://${exporter}
    # With a token, which changes of baselines require:
    # jsonData:
    #   httpHeaderName1: Authorization
    # secureJsonData:
    #   httpHeaderValue1: Bearer $LLMBENCH_API_TOKEN`,
    },
    { id: 'baseline', language: 'bash', text: BASELINE_CHANGES },
    {
      id: 'app',
      language: 'yaml',
      text: `# provisioning/plugins/llmbench.yaml
apiVersion: 1
apps:
  - type: llmbench-observability-app
    org_id: 1
    disabled: false`,
    },
  ];
}
