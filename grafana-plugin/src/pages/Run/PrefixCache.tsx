import { css } from '@emotion/css';
import type { GrafanaTheme2 } from '@grafana/data';
import { useStyles2 } from '@grafana/ui';
import React from 'react';
import type { ResultFile } from '../../../../core/run/result.ts';
import { counted, quantity } from '../../../../core/text/quantities.ts';
import { Section } from '../../components/Section.tsx';
import { Tile, Tiles } from '../../components/Tile.tsx';
import { t } from '../../text.ts';

/** The hit rate of prefix caches that the plan makes possible, beside the measured ones; nothing if the plan does not know it. */
export function PrefixCache({ result: { prefix_cache: cache } }: { result: ResultFile }) {
  const styles = useStyles2(getStyles);
  if (cache === undefined) {
    return null;
  }
  return (
    <Section title={t('cache.title', 'Prefix cache')}>
      <Tiles>
        <Tile
          label={t('cache.possible', 'Possible')}
          value={quantity(cache.possible_ratio, 'ratio')}
          detail={t('cache.blocks', 'in blocks of {{n}} tokens', { n: counted(cache.block_tokens) })}
          meaning={t(
            'cache.possible-meaning',
            'Planned input tokens that an earlier request of the plan had, with caches of unlimited size, without the chat template.'
          )}
        />
        <Tile
          label={t('cache.usage', 'By usage')}
          value={quantity(cache.usage_ratio, 'ratio')}
          meaning={t('cache.usage-meaning', 'Cached input tokens in the usage of the responses ÷ input tokens.')}
        />
        <Tile
          label={t('cache.servers', 'By the servers')}
          value={quantity(cache.server_ratio, 'ratio')}
          meaning={t('cache.servers-meaning', "Cached ÷ all prompt tokens of the servers' own counters in the run.")}
        />
      </Tiles>
      {cache.why.length > 0 && (
        <div className={styles.why}>
          {t('cache.why', 'The measured hit rate is below the possible one. What the servers report:')}
          <ul>
            {cache.why.map((line) => (
              <li key={line}>{line}</li>
            ))}
          </ul>
        </div>
      )}
    </Section>
  );
}

const getStyles = (theme: GrafanaTheme2) => ({
  why: css({ marginTop: theme.spacing(1.5), ul: { margin: 0, paddingLeft: theme.spacing(2.5) } }),
});
