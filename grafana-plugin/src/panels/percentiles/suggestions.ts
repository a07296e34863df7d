import { FieldType, type PanelDataSummary, VisualizationSuggestionScore } from '@grafana/data';
import { isNativeHistogram } from '../../prometheus/native-grid.ts';
import { isBucketTable } from './input/read-table.ts';
import type { PercentilesOptions } from './options.tsx';
import { t } from '../../text.ts';

/** The panel suggests itself, in both modes, where the response holds histogram buckets. */
export function suggestions({ rawFrames = [] }: PanelDataSummary) {
  const hasBuckets = rawFrames.some(
    (frame) =>
      isNativeHistogram(frame) ||
      isBucketTable(frame) ||
      frame.fields.some(({ type, labels }) => type === FieldType.number && labels?.['le'] !== undefined)
  );
  if (!hasBuckets) {
    return [];
  }
  const score = VisualizationSuggestionScore.Best;
  const previewModifier = (suggestion: { options?: Partial<PercentilesOptions> }) => {
    suggestion.options = { ...suggestion.options, showLegend: false };
  };
  return [
    { name: t('panel.suggestion.time', 'Percentiles over time'), score, cardOptions: { previewModifier } },
    {
      name: t('panel.suggestion.range', 'Distribution of the whole range'),
      options: { mode: 'range' as const },
      score: VisualizationSuggestionScore.Good,
      cardOptions: { previewModifier },
    },
  ];
}
