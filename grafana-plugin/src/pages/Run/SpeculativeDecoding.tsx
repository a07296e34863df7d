import React from 'react';
import { acceptanceByPosition, speculationResults } from '../../../../core/measures/scalar-results.ts';
import type { ResultFile } from '../../../../core/run/result.ts';
import { counted, quantity } from '../../../../core/text/quantities.ts';
import { Section } from '../../components/Section.tsx';
import { Tile, Tiles } from '../../components/Tile.tsx';
import { t } from '../../text.ts';

/** What the model kept of the drafts, by the servers' counters; nothing if no server counts drafts. */
export function SpeculativeDecoding({ result: { speculation } }: { result: ResultFile }) {
  if (speculation === undefined) {
    return null;
  }
  const [rate, length] = speculationResults(speculation).map(({ value, unit }) => quantity(value, unit));
  return (
    <Section title={t('speculation.title', 'Speculative decoding')}>
      <Tiles>
        <Tile
          label={t('speculation.rate', 'Acceptance rate')}
          value={rate ?? ''}
          detail={t('speculation.tokens', '{{accepted}} of {{proposed}} draft tokens', {
            accepted: counted(speculation.accepted_tokens),
            proposed: counted(speculation.draft_tokens),
          })}
          meaning={t(
            'speculation.rate-meaning',
            "Accepted ÷ proposed draft tokens of the servers' own counters in the run."
          )}
        />
        <Tile
          label={t('speculation.length', 'Acceptance length')}
          value={length ?? ''}
          detail={t('speculation.drafts', 'over {{n}} drafts', { n: counted(speculation.drafts) })}
          meaning={t(
            'speculation.length-meaning',
            'Accepted draft tokens ÷ drafts + 1, the token that the model gives itself after each draft.'
          )}
        />
        {(acceptanceByPosition(speculation) ?? []).map((share, i) => (
          <Tile
            key={i}
            label={t('speculation.position', 'Position {{n}}', { n: counted(i + 1) })}
            value={quantity(share, 'ratio')}
            meaning={t(
              'speculation.position-meaning',
              'Share of the drafts whose token at this position was accepted.'
            )}
          />
        ))}
      </Tiles>
    </Section>
  );
}
