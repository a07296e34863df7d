import { getPanelDataSummary } from '@grafana/data';
import { panelData } from '../../../test/panel-data.ts';
import { suggestions } from './suggestions.ts';

const names = (fixture: string) => suggestions(getPanelDataSummary(panelData(fixture).series)).map(({ name }) => name);

test.each(['raw-cumulative-counters', 'classic-heatmap', 'native-heatmap', 'instant-table'])(
  'buckets of %s are suggested in both modes',
  (fixture) => {
    expect(names(fixture)).toEqual(['Percentiles over time', 'Distribution of the whole range']);
  }
);

test('an answer without buckets is left to other panels', () => {
  const lines = panelData('two-queries').series.slice(0, 1);
  expect(suggestions(getPanelDataSummary(lines))).toEqual([]);
});
