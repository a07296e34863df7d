import { css } from '@emotion/css';
import type { GrafanaTheme2 } from '@grafana/data';
import { TextLink, useStyles2 } from '@grafana/ui';
import React, { useCallback } from 'react';
import { useLocation } from 'react-router-dom';
import { compareSetsUrl } from '../../components/run-link.ts';
import { Section } from '../../components/Section.tsx';
import type { ExporterApi } from '../../exporter-api/exporter-api.ts';
import { useLoaded } from '../../hooks/useLoaded.ts';
import { type Candidate, candidates } from './candidates.ts';
import { runsText } from './VerdictSummary.tsx';
import { t } from '../../text.ts';

/** Of the newest runs. */
const MAX_RUNS = 300;

/** Comparisons to begin with; nothing where there are too few runs for one, or while they load. */
export function Candidates({ exporter }: { exporter: ExporterApi }) {
  const styles = useStyles2(getStyles);
  const load = useCallback(
    async (signal: AbortSignal) => {
      const [{ scenarios }, { runs }] = await Promise.all([
        exporter.scenarios({ limit: 100 }, signal),
        exporter.runs({ status: ['completed'], limit: MAX_RUNS }, signal),
      ]);
      return candidates(scenarios, runs);
    },
    [exporter]
  );
  const { data = [] } = useLoaded(load);
  return data.length === 0 ? null : (
    <Section title={t('candidates.title', 'Suggested comparisons')}>
      <ul className={styles.list}>
        {data.map((candidate) => (
          <li key={candidate.title} className={styles.candidate}>
            <CandidateLink candidate={candidate} />
          </li>
        ))}
      </ul>
    </Section>
  );
}

function CandidateLink({ candidate: { title, a, b, acrossScenarios } }: { candidate: Candidate }) {
  const styles = useStyles2(getStyles);
  const { search } = useLocation();
  const url = compareSetsUrl({ a, b }, search);
  return (
    <>
      <TextLink href={acrossScenarios ? `${url}&across_scenarios=true` : url} inline={false}>
        {title}
      </TextLink>
      <span className={styles.facts}>
        {t('candidates.sizes', 'A {{a}} · B {{b}}', { a: runsText(a.length), b: runsText(b.length) })}
      </span>
    </>
  );
}

const getStyles = (theme: GrafanaTheme2) => ({
  list: css({ listStyle: 'none', margin: 0, padding: 0, display: 'grid', gap: theme.spacing(0.75) }),
  candidate: css({ display: 'flex', flexWrap: 'wrap', alignItems: 'baseline', columnGap: theme.spacing(1.5) }),
  facts: css({ ...theme.typography.bodySmall, color: theme.colors.text.secondary }),
});
