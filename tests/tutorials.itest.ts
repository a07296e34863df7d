import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, expect, test } from '@jest/globals';
import { BAD_WEEK_PAGE, badWeekPage } from '../scripts/docs/bad-week.ts';
import { SERVER_HEADING, TUTORIALS } from '../scripts/docs/tutorial-pages.ts';
import { announced, start } from './llmbench.ts';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const MINUTES = 60_000;
const folder = mkdtempSync(join(tmpdir(), 'llmbench-tutorials-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** The commands of a tutorial in their order, without those that require a real server. */
function commandsOf(slug: string): string[] {
  const page = readFileSync(join(ROOT, `docs/tutorials/${slug}.md`), 'utf8');
  const sections = page.split(/^(?=## )/m).filter((section) => !section.startsWith(`${SERVER_HEADING}\n`));
  return Array.from(sections.join('').matchAll(/^```sh\n(.*?)\n```$/gms), ([, commands = '']) => commands);
}

interface Shell {
  readonly status: number | null;
  readonly output: string;
}

/** Runs a command as a reader's shell does, with this checkout as the installed llmbench. */
function shell(command: string, cwd: string, env: NodeJS.ProcessEnv): Promise<Shell> {
  const script = `npx() { shift; "$NODE" "$LAUNCHER" "$@"; }\n${command}`;
  const child = spawn('bash', ['-c', script], {
    cwd,
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => (output += text));
  }
  return new Promise((resolve) => child.once('close', (status) => resolve({ status, output })));
}

/** The first run and its servers; what follows is the same on all pages but for the options of the system. */
const FIRST_COMMANDS = 2;
const IN_FULL = ['vllm', 'triton'];

test.each(
  TUTORIALS.filter(({ slug }) => !IN_FULL.includes(slug)).map((tutorial) => [tutorial.slug, tutorial] as const),
)('after its first run the tutorial %s has the commands of that of vLLM', (slug, { options = '' }) => {
  const ofVllm = commandsOf('vllm').slice(FIRST_COMMANDS);
  const own = ofVllm.map((command) =>
    command.replaceAll('vllm-tutorial', `${slug}-tutorial`).replaceAll('"$LLM_MODEL"', `"$LLM_MODEL"${options}`),
  );
  expect(commandsOf(slug).slice(FIRST_COMMANDS)).toEqual(own);
  expect(own).toHaveLength(4);
});

test.concurrent.each(TUTORIALS.map((tutorial) => [tutorial.slug, tutorial] as const))(
  'the commands of the tutorial %s do what the page says',
  async (slug, { simulate }) => {
    const simulator = start(['simulate', ...simulate.split(' '), '--port', '0', '--json']);
    try {
      const { url, metrics_urls: metricsUrls } = await announced<{ url: string; metrics_urls: string[] }>(simulator);
      const cwd = mkdtempSync(join(folder, 'reader-'));
      const env = {
        NODE: process.execPath,
        LAUNCHER: join(ROOT, 'bin/llmbench.js'),
        LLM_URL: url,
        LLM_MODEL: 'sim-model',
        LLM_API_KEY: 'key',
        // Pages of their own have a free port here, where they are not found.
        LLMBENCH_SERVER_METRICS: metricsUrls.join(','),
      };
      const outputs: string[] = [];
      const all = commandsOf(slug);
      for (const command of IN_FULL.includes(slug) ? all : all.slice(0, FIRST_COMMANDS)) {
        const { status, output } = await shell(command, cwd, env);
        // On a busy machine a simulated server may well be slower than its baseline.
        const allowed = command.includes('--check') ? [0, 99] : [0];
        expect({ command, failure: allowed.includes(status ?? -1) ? '' : output }).toEqual({ command, failure: '' });
        outputs.push(output);
      }
      const [first = '', servers = '', repeated, baseline = '', check = '', history = ''] = outputs;
      expect(first).toContain('requests    ok 40 · error 0');
      expect(servers).toMatch(/ within /);
      if (repeated === undefined) return;
      expect(baseline).toContain('accepted 5 runs');
      expect(check).toMatch(/^verdict +(regressed|improved|unchanged|suspect|undecided)/m);
      expect(check).not.toContain('needs at least 5');
      expect(history).toContain(`${slug}-tutorial`);
    } finally {
      simulator.child.kill('SIGTERM');
      await simulator.ended;
    }
  },
  5 * MINUTES,
);

test(
  'the nights of the bad week are as llmbench judges them: node scripts/docs/generate.ts bad-week',
  async () => {
    expect(readFileSync(join(ROOT, BAD_WEEK_PAGE), 'utf8')).toBe(await badWeekPage());
  },
  5 * MINUTES,
);
