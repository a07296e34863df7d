import type { RunFile } from '../../../../core/run/run.ts';
import { configurationFacts } from './Configuration.tsx';

const run = (change: Partial<RunFile> = {}): RunFile =>
  ({
    run_id: 'a',
    target: { origin: 'http://127.0.0.1:8000' },
    group_id: null,
    comparison_key: {
      model: 'llama',
      load: { mode: 'concurrency', concurrency: 4, request_rate: null },
      warmup: null,
      sampling: { temperature: 0 },
      measure_definitions: { time_to_first_token: 'sent_to_first_content_chunk' },
    },
    dataset: null,
    provenance: null,
    command_line: ['llmbench', 'run', '--model', 'my model'],
    ...change,
  }) as unknown as RunFile;

test('facts without a value are named, not listed', () => {
  const { stated, notStated } = configurationFacts(run());
  expect(stated).toEqual([
    ['run_id', 'a'],
    ['target', 'http://127.0.0.1:8000'],
    ['model', 'llama'],
    ['load.mode', 'concurrency'],
    ['load.concurrency', '4'],
    ['sampling.temperature', '0'],
  ]);
  expect(notStated).toEqual(['load.request_rate', 'warmup', 'dataset']);
});

test('stages are written as the option reads them', () => {
  const stages = [
    { duration_seconds: 60, concurrency: null, request_rate: { start: 5, end: 20 } },
    { duration_seconds: 30, concurrency: 64, request_rate: null },
  ];
  const { comparison_key: key } = run();
  const { stated } = configurationFacts(
    run({ comparison_key: { ...key, load: { ...key.load, mode: 'stages', stages } } as RunFile['comparison_key'] })
  );
  expect(new Map(stated).get('load.stages')).toBe('rate=5..20:60s,concurrency=64:30s');
});

test('the command can be pasted into a shell', () => {
  expect(configurationFacts(run()).command).toBe("llmbench run --model 'my model'");
  expect(configurationFacts(run({ command_line: null })).command).toBeNull();
});
