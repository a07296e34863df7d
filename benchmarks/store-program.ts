/**
 * Answers one question about a runs directory and prints how long that took, without the loading of the program.
 *
 * usage: store-program.ts list|history|naive-list|naive-history <runs directory>
 */
import { RunIndex } from '../exporter/store/index/run-index.ts';
import { RunStore } from '../exporter/store/run-store.ts';

const MEASURE = 'time_to_first_token';
const LISTED = 20;

const [question = '', directory = ''] = process.argv.slice(2);
const store = new RunStore(directory);

const QUESTIONS: Readonly<Record<string, () => Promise<number>>> = {
  list: async () => (await RunIndex.use(store, (index) => index.runs([], LISTED))).length,
  'naive-list': async () => (await store.list()).slice(0, LISTED).length,
  history: async () => (await RunIndex.use(store, (index) => index.history(MEASURE))).length,
  'naive-history': async () => {
    let values = 0;
    for (const { run_id } of await store.list()) {
      const { measures } = await store.readResult(run_id);
      if (measures.some(({ measure }) => measure === MEASURE)) values += 1;
    }
    return values;
  },
};

const answer = QUESTIONS[question];
if (answer === undefined) throw new Error(`there is no question '${question}'`);
const begin = performance.now();
const cpuBegin = process.cpuUsage();
const n = await answer();
const ms = performance.now() - begin;
const { user, system } = process.cpuUsage(cpuBegin);
process.stdout.write(`${JSON.stringify({ name: question, ms, cpu_ms: (user + system) / 1000, n })}\n`);
