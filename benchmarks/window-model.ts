/**
 * `npm run model:windows [histories [first seed]]`: compares what servers gained by the window logic with the truth of generated
 * histories: restarts, families that appear late, failed and cut scrapes, changing bounds, several processes, gateways with their
 * workers, replicas.
 */
import { verdictsOver } from '../exporter/servers/testing/population/verdicts.ts';

const [histories, first] = [Number(process.argv[2] ?? 100_000), Number(process.argv[3] ?? 0)];
if (!Number.isInteger(histories) || histories < 1 || !Number.isInteger(first)) {
  console.error('model:windows: the number of histories and the first seed must be whole numbers');
  process.exit(2);
}
const { exact, unknown, wrong, ambiguous, examples } = verdictsOver(
  Array.from({ length: histories }, (_, i) => first + i),
);
console.log(
  `${histories} histories: ${exact} gains exact, ${unknown} unknown, ${wrong} wrong, ${ambiguous} in histories that pages cannot distinguish`,
);
for (const example of examples) console.log(`  ${example}`);
process.exitCode = wrong === 0 ? 0 : 1;
