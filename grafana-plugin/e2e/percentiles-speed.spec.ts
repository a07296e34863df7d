import { test as base, expect } from '@playwright/test';
import { build } from 'esbuild';
import { fileURLToPath } from 'node:url';
import type { Speed } from './support/percentiles-speed.tsx';

const LOAD = { series: 20, buckets: 60, points: 1000 };
const ROUNDS = 12;
/** Rounds before the code is compiled. */
const WARMUP = 3;

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));
const median = (values: number[]) => [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? NaN;

// A benchmark: it prints what this machine takes. Only what would be wrong anywhere fails it.
base('speed: 20 series, 60 buckets, 1,000 points', async ({ page }) => {
  base.setTimeout(180_000);
  const { outputFiles } = await build({
    entryPoints: [here('./support/percentiles-speed.tsx')],
    bundle: true,
    write: false,
    minify: true,
    format: 'iife',
    target: 'es2022',
    jsx: 'transform',
    tsconfig: here('../host/tsconfig.json'),
    logLevel: 'error',
    define: { 'process.env.NODE_ENV': '"production"', 'process.env': '{}', global: 'globalThis', define: 'undefined' },
    loader: { '.svg': 'dataurl', '.woff2': 'dataurl', '.ttf': 'dataurl', '.css': 'empty' },
  });
  await page.setContent('<!doctype html><div id="root"></div>');
  await page.addScriptTag({ content: outputFiles[0]?.text ?? '' });
  const speeds: Speed[] = await page.evaluate(
    ([load, rounds]) => (window as never as Speedometer).percentilesSpeed.measure(load, rounds),
    [LOAD, ROUNDS] as const
  );
  const colors = await page.locator('canvas[data-part="many-lines"]').evaluate((canvas: HTMLCanvasElement) => {
    const pixels = canvas.getContext('2d')?.getImageData(0, 0, canvas.width, canvas.height).data ?? [];
    const opaque = new Set<string>();
    for (let i = 0; i < pixels.length; i += 4) {
      if (pixels[i + 3] === 255) {
        opaque.add(`${pixels[i]} ${pixels[i + 1]} ${pixels[i + 2]}`);
      }
    }
    return opaque.size;
  });
  // The palette has seven.
  expect(colors).toBeGreaterThanOrEqual(7);
  const frames: number[] = await page.evaluate(() => (window as never as Speedometer).percentilesSpeed.hover(60));
  const warm = speeds.slice(WARMUP);
  const script = median(warm.map((speed) => speed.script));
  const painted = median(warm.map((speed) => speed.painted));
  console.log(`first drawing   ${speeds[0]?.script.toFixed(0)} ms script, ${speeds[0]?.painted.toFixed(0)} ms painted`);
  console.log(`median drawing  ${script.toFixed(0)} ms script, ${painted.toFixed(0)} ms painted (budget 100 ms)`);
  console.log(
    `hover           ${median(frames).toFixed(1)} ms between frames, longest ${Math.max(...frames).toFixed(0)} ms`
  );
  expect(speeds).toHaveLength(ROUNDS);
});

interface Speedometer {
  percentilesSpeed: {
    measure: (load: typeof LOAD, rounds: number) => Promise<Speed[]>;
    hover: (moves: number) => Promise<number[]>;
  };
}
