/** Starts the simulated server of a configuration until it is stopped, and prints the command that searches its capacity. */
import { startSimulator } from '../../simulator/main.ts';
import { CONFIGURATIONS } from './configurations.ts';

const [wanted] = process.argv.slice(2);
const configuration = CONFIGURATIONS.find(({ name }) => name === wanted);
if (configuration === undefined) {
  process.stderr.write(`NAME is required, one of ${CONFIGURATIONS.map(({ name }) => name).join(', ')}\n`);
  process.exitCode = 2;
} else {
  const { system, engine, traffic, objectiveText, capacity } = configuration;
  // One engine, and vLLM with default flags: the derivations are of one engine, and of vLLM without speculative decoding.
  const server = await startSimulator({ system, engine, workers: 1, switches: system !== 'vllm' });
  const arrivals = traffic.load === 'request_rate' ? ` --arrival-pattern ${traffic.arrivals}` : '';
  const find = `--find ${traffic.load.replace('_', '-')} --slo '${objectiveText}'${arrivals}`;
  const lengths = `--isl ${traffic.inputTokens} --osl ${traffic.outputTokens}`;
  process.stdout.write(`capacity ${capacity}\nllmbench run --url ${server.url} --model sim-model ${find} ${lengths}\n`);
  process.on('SIGTERM', () => void server.close());
  process.on('SIGINT', () => void server.close());
}
