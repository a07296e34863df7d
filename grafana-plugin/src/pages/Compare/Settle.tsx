import { css } from '@emotion/css';
import type { GrafanaTheme2 } from '@grafana/data';
import { useStyles2 } from '@grafana/ui';
import React from 'react';
import { percentText } from '../../../../core/text/quantities.ts';
import { Section } from '../../components/Section.tsx';
import { SnippetBox } from '../../components/SnippetBox.tsx';
import type { CompareResponse } from '../../../../core/api/comparison.ts';
import type { Needs } from '../../../../core/api/verdict.ts';
import { t } from '../../text.ts';

/** What would allow a decision, and the command that gathers it; nothing where nothing is missing. */
export function Settle({ comparison: { needs, next_command: command } }: { comparison: CompareResponse }) {
  const styles = useStyles2(getStyles);
  if (needs === null) {
    return null;
  }
  const title = t('comparison.settle', 'What would settle it');
  return (
    <Section title={title} description={needsText(needs)}>
      {command !== null && (
        <>
          <SnippetBox title={t('comparison.command', 'Command')} text={command} />
          {command.includes('<') && (
            <p className={styles.note}>
              {t('comparison.same-options', 'Replace the part in angle brackets by the options of the runs.')}
            </p>
          )}
        </>
      )}
    </Section>
  );
}

function needsText(needs: Needs): string {
  switch (needs.design) {
    case 'pairs':
      return t('needs.pairs', 'Interleaved pairs of runs: {{pairs}} in all, {{further}} more than there are.', {
        pairs: needs.pairs,
        further: needs.further,
      });
    case 'sets':
      return t('needs.sets', 'Further runs: {{a}} of A and {{b}} of B.', { a: needs.furtherA, b: needs.furtherB });
    case 'confirm':
      return t('needs.confirm', 'Further runs of B with the same plan: {{further}}.', { further: needs.further });
    case 'baseline':
      return t('needs.baseline', 'Further accepted runs in the baseline: {{further}}.', { further: needs.further });
    case 'buckets':
      return t('needs.buckets', 'Finer histogram buckets, or records, that resolve a change of {{effect}}.', {
        effect: percentText(needs.effect),
      });
    case 'requests':
      return t('needs.requests', 'Longer runs, with at least {{times}} times the requests.', { times: needs.times });
  }
}

const getStyles = (theme: GrafanaTheme2) => ({
  note: css({ ...theme.typography.bodySmall, color: theme.colors.text.secondary, margin: theme.spacing(0.5, 0, 0) }),
});
