import {
  createTheme,
  dateTime,
  EventBusSrv,
  FieldType,
  LoadingState,
  type PanelProps,
  ThemeContext,
  toDataFrame,
} from '@grafana/data';
import React from 'react';
import { flushSync } from 'react-dom';
import { createRoot } from 'react-dom/client';
import { registerStandards } from '../../host/page/registries.ts';
import { defaultOptions, type PercentilesOptions } from '../../src/panels/percentiles/options.tsx';
import { PercentilesPanel } from '../../src/panels/percentiles/PercentilesPanel.tsx';

/** What one drawing of the panel took, in milliseconds. */
export interface Speed {
  /** React's render and commit, with reading the frames and computing the percentiles. */
  script: number;
  /** The same, up to the frame after the one that was painted. */
  painted: number;
}

interface Load {
  series: number;
  buckets: number;
  points: number;
}

const STEP_MS = 1000;
/** Observations of a series in a step. */
const PER_STEP = 80;

/** Frames as Grafana's Prometheus data source makes them of raw counters. */
function frames({ series, buckets, points }: Load, shift: number) {
  const times = Array.from({ length: points }, (_, row) => (row + 1) * STEP_MS);
  return Array.from({ length: series * buckets }, (_, i) => {
    const [one, bucket] = [Math.floor(i / buckets), i % buckets];
    const bound = bucket === buckets - 1 ? Infinity : 0.01 * 1.12 ** bucket;
    let total = 0;
    const values = times.map((_, row) => {
      const median = 0.1 + 0.02 * one + 0.05 * Math.sin((row + shift) / 60);
      return (total += bound === Infinity ? PER_STEP : Math.floor(PER_STEP / (1 + (median / bound) ** 3)));
    });
    const labels = { __name__: 'x_bucket', instance: `vllm-${one}`, le: bound === Infinity ? '+Inf' : `${bound}` };
    return toDataFrame({
      refId: 'A',
      fields: [
        { name: 'Time', type: FieldType.time, config: { interval: STEP_MS }, values: [...times] },
        { name: 'Value', type: FieldType.number, config: { unit: 's' }, labels, values },
      ],
    });
  });
}

/** Draws the panel with new data each time, and measures how long each drawing took. */
async function measure(load: Load, rounds: number): Promise<Speed[]> {
  const [from, to] = [dateTime(0), dateTime(load.points * STEP_MS)];
  const range = { from, to, raw: { from, to } };
  const theme = createTheme();
  const eventBus = new EventBusSrv();
  const root = createRoot(document.getElementById('root') as HTMLElement);
  const speeds: Speed[] = [];
  for (let round = 0; round < rounds; round++) {
    const data = { state: LoadingState.Done, series: frames(load, round), timeRange: range };
    const fixed = { data, options: defaultOptions, timeRange: range, timeZone: 'utc', eventBus };
    const props = { ...fixed, width: 1400, height: 800, fieldConfig: { defaults: {}, overrides: [] } };
    await nextFrame();
    const start = performance.now();
    flushSync(() =>
      root.render(
        <ThemeContext.Provider value={theme}>
          <PercentilesPanel {...(props as unknown as PanelProps<PercentilesOptions>)} />
        </ThemeContext.Provider>
      )
    );
    const script = performance.now() - start;
    await nextFrame();
    await nextFrame();
    speeds.push({ script, painted: performance.now() - start });
  }
  return speeds;
}

/** Time between the frames while the pointer crosses the drawing, in milliseconds. */
async function hover(moves: number): Promise<number[]> {
  const area = document.querySelector('[data-part="pointer"]') as Element;
  const box = area.getBoundingClientRect();
  const intervals: number[] = [];
  let before = await nextFrame();
  for (let i = 0; i < moves; i++) {
    const [clientX, clientY] = [box.left + ((i + 1) / (moves + 1)) * box.width, box.top + 100];
    area.dispatchEvent(new PointerEvent('pointermove', { clientX, clientY, bubbles: true }));
    const now = await nextFrame();
    intervals.push(now - before);
    before = now;
  }
  return intervals;
}

function nextFrame(): Promise<number> {
  return new Promise((resolve) => requestAnimationFrame(() => resolve(performance.now())));
}

registerStandards();
Object.assign(window, { percentilesSpeed: { measure, hover } });
