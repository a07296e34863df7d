import { dateTime, EventBusSrv, LoadingState, type PanelData, type PanelProps } from '@grafana/data';
import { fireEvent, render, screen, within } from '@testing-library/react';
import React from 'react';
import { panelData } from '../../../test/panel-data.ts';
import { plugin } from './module.ts';
import { defaultOptions, type PercentilesOptions } from './options.tsx';
import { PercentilesPanel } from './PercentilesPanel.tsx';

const FROM = dateTime(1795285774000);
const TO = dateTime(1795285954000);
const RANGE = { from: FROM, to: TO, raw: { from: FROM, to: TO } };

function show(name: string, options: Partial<PercentilesOptions> = {}) {
  const { series, annotations } = panelData(name);
  for (const field of series.flatMap(({ fields }) => fields)) {
    field.config = { ...field.config, unit: 's' };
  }
  const fieldConfig = { defaults: { unit: 's' }, overrides: [] };
  const props = {
    data: { state: LoadingState.Done, series, annotations, timeRange: RANGE },
    options: { ...defaultOptions, ...options },
    width: 900,
    height: 400,
    timeRange: RANGE,
    timeZone: 'utc',
    fieldConfig,
    eventBus: new EventBusSrv(),
    onChangeTimeRange: () => {},
  };
  return render(<PercentilesPanel {...(props as unknown as PanelProps<PercentilesOptions>)} />);
}

function message(data: Partial<PanelData>) {
  const props = { data: { series: [], timeRange: RANGE, ...data }, options: defaultOptions, width: 900, height: 400 };
  const rest = { timeRange: RANGE, timeZone: 'utc', fieldConfig: { defaults: {}, overrides: [] } };
  const { container, unmount } = render(
    <PercentilesPanel {...({ ...props, ...rest } as unknown as PanelProps<PercentilesOptions>)} />
  );
  const text = container.textContent;
  unmount();
  return text;
}

function legend() {
  const rows = within(screen.getByTestId('percentiles legend')).getAllByRole('row');
  return rows.map((row) => [...row.children].map((cell) => cell.textContent));
}

test('the legend of raw counters: estimate, bounds and n of each run', () => {
  show('raw-cumulative-counters');
  expect(legend().slice(0, 4)).toEqual([
    ['Whole range', 'Estimate', 'Bounds', 'n'],
    ['r7 p50', '366 ms', '300 ms – 500 ms', '632'],
    ['r7 p90', '686 ms', '500 ms – 750 ms', '632'],
    ['r7 p99', '1.37 s', '1 s – 2 s', '632'],
  ]);
  expect(legend()).toHaveLength(10);
});

test('n states since when it is counted where the first sample is not at the start of the range', () => {
  show('raw-cumulative-counters');
  const n = legend().map((cells) => cells[3]);
  // r8 begins in the range, with observations before its first sample.
  expect(n[1]).toBe('632');
  expect(n[4]).toMatch(/^\d+ since \d\d:\d\d:\d\d$/);
});

test('rates: the interval is named and drawn as the bucket of the estimate, and there is no n', () => {
  const { container } = show('classic-heatmap');
  expect(legend()[0]).toEqual(['Whole range', 'Estimate', 'Bucket of the estimate']);
  expect(screen.getByText(/not a bound/)).toBeInTheDocument();
  expect(container.querySelectorAll('[data-interval="bucket-of-estimate"] [data-part="band"]')).toHaveLength(3);
  expect(container.querySelectorAll('[data-interval="bounds"]')).toHaveLength(0);
});

test('run regions are drawn with their titles', () => {
  const { container } = show('raw-cumulative-counters');
  const regions = [...container.querySelectorAll('[data-region]')].map((region) => region.getAttribute('data-region'));
  expect(regions).toEqual(['run r7 measure', 'run r8 measure', 'run r9 measure']);
});

test('intervals can be left out', () => {
  const { container } = show('raw-cumulative-counters', { showIntervals: false });
  expect(container.querySelectorAll('[data-part="band"]')).toHaveLength(0);
  expect(container.querySelectorAll('[data-part="line"]')).toHaveLength(9);
});

test('a click on a name shows that line alone', () => {
  const { container } = show('raw-cumulative-counters');
  fireEvent.click(screen.getByRole('button', { name: 'r8 p99' }));
  const drawn = [...container.querySelectorAll('[data-percentile]')].map((line) =>
    line.getAttribute('data-percentile')
  );
  expect(drawn).toEqual(['r8 p99']);
  expect(screen.getByRole('button', { name: 'r8 p99' })).toHaveAttribute('aria-pressed', 'true');
  expect(screen.getByRole('button', { name: 'r7 p50' })).toHaveAttribute('aria-pressed', 'false');
});

test('a service level objective is a labeled line', () => {
  show('classic-heatmap', { slo: 0.5 });
  expect(screen.getByText(/^SLO 500 ms: about \d/)).toBeInTheDocument();
});

test('native histograms are drawn with the bucket of the estimate', () => {
  const { container } = show('native-heatmap');
  expect(legend()[0]).toEqual(['Whole range', 'Estimate', 'Bucket of the estimate']);
  expect(container.querySelectorAll('[data-interval="bucket-of-estimate"] [data-part="band"]')).toHaveLength(3);
});

test('the whole range: a band of steps per series, and a mark per percentile', () => {
  const { container } = show('raw-cumulative-counters', { mode: 'range', slo: 0.6 });
  expect(screen.getByTestId('percentiles distribution')).toBeInTheDocument();
  expect(container.querySelectorAll('[data-distribution]')).toHaveLength(3);
  expect(container.querySelectorAll('[data-percentile]')).toHaveLength(9);
  // Run r7: 492 of 632 up to 0.5, 595 up to 0.75.
  expect(screen.getByTestId('percentiles notes')).toHaveTextContent(/At or below 600 ms: r7: 77.8 % – 94.1 %;/);
  expect(screen.getByTestId('percentiles notes')).toHaveTextContent(
    'A bucket bound at 600 ms would make this share exact.'
  );
});

test('at a bucket bound the share within the objective is exact', () => {
  show('raw-cumulative-counters', { slo: 0.5 });
  expect(screen.getByTestId('percentiles notes')).toHaveTextContent(/At or below 500 ms: r7: 77.8 %;/);
  expect(screen.getByTestId('percentiles notes')).not.toHaveTextContent('would make this share exact');
});

test('a series that was scraped late says from when it counts', () => {
  show('raw-cumulative-counters');
  expect(screen.getByTestId('percentiles notes')).toHaveTextContent(/r7: counted from \d\d:\d\d:\d\d:/);
});

test('loading, errors and no data are distinguishable', () => {
  expect(message({ state: LoadingState.Loading })).toBe('Loading …');
  expect(message({ state: LoadingState.Done })).toBe('No data');
  expect(message({ state: LoadingState.Error, errors: [{ message: 'bad_data: parse error' }] })).toBe(
    'The query failedbad_data: parse error'
  );
});

test('the panel reports that no percentile is selected', () => {
  show('classic-heatmap', { percentiles: [] });
  expect(screen.getByText('No percentile is selected.')).toBeInTheDocument();
});

test('the axis follows the visible lines', () => {
  const { container } = show('classic-heatmap');
  const highest = () => container.querySelector('[data-part="axes"] g:nth-of-type(3) text')?.textContent;
  const before = highest();
  fireEvent.click(screen.getByRole('button', { name: 'p50' }));
  expect(highest()).not.toBe(before);
});

test('the line of a second query is drawn and listed', () => {
  const { container } = show('two-queries');
  expect(container.querySelectorAll('[data-given]')).toHaveLength(1);
  expect(legend()).toHaveLength(5);
  expect(legend()[4]?.[2]).toBe('as queried, last value');
});

test('the panel requests annotations, and its unit is seconds by default', () => {
  expect(plugin.dataSupport).toEqual({ annotations: true, alertStates: false });
});
