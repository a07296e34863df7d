import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test, afterAll, beforeAll } from '@jest/globals';
import { ExpectedError } from '../../errors/expected-error.ts';
import { readOptions } from './options.ts';
import {
  requestedFields,
  requestedTraffic,
  TRAFFIC_OPTIONS,
  followsSchedule,
  type ScheduleOptions,
} from './traffic-options.ts';

describe('traffic options', () => {
  const options = (...argv: string[]): ReturnType<typeof readOptions<typeof TRAFFIC_OPTIONS>> =>
    readOptions(TRAFFIC_OPTIONS, argv, {});
  const traffic = (...argv: string[]): ReturnType<typeof requestedTraffic> => requestedTraffic(options(...argv), []);

  describe('what is sent, by flags', () => {
    test('by default: streamed chat of single requests with random words', () => {
      expect(traffic()).toMatchObject({
        endpointType: 'chat',
        stream: null,
        tokenizer: null,
        apiKey: { environmentVariable: null, file: null },
        dataset: {
          inputTokens: null,
          outputTokens: null,
          file: null,
          synthetic: { conversations: null, distribution: null },
        },
      });
    });

    test.each([
      ['none', []],
      ['reasoning_text', ['reasoning_text']],
      ['delta.reasoning_text, answer,answer', ['answer', 'reasoning_text']],
      ['response.note.delta', ['response.note.delta']],
    ])('output fields %s', (given, fields) => {
      expect(traffic('--output-fields', given).outputFields).toEqual(fields);
      expect(traffic().outputFields).toBeNull();
    });

    test('output fields that are no names', () => {
      expect(() => traffic('--output-fields', 'a,,b')).toThrow(
        "--output-fields is 'a,,b' and must be names of fields, separated by commas, or none",
      );
    });

    test('usage is checked with a tokenizer', () => {
      expect(traffic('--tokenizer', 'cl100k_base', '--check-usage').checkUsage).toBe(true);
      expect(() => traffic('--check-usage')).toThrow('--check-usage requires --tokenizer');
    });

    test('conversations: milliseconds become seconds', () => {
      const shape = traffic(
        '--session-turns-mean',
        '3',
        '--session-turn-delay-mean',
        '1500',
        '--session-delay-ratio',
        '0.5',
      );
      expect(shape.dataset.synthetic.conversations).toEqual({
        turns: { mean: 3, stddev: 0 },
        delay: { mean: 1.5, stddev: 0, ratio: 0.5 },
      });
    });

    test('a file', () => {
      const file = traffic(
        '--input-file',
        't.jsonl',
        '--custom-dataset-type',
        'mooncake_trace',
        '--isl-block-size',
        '16',
        '--osl',
        '5',
      );
      expect(file.dataset).toMatchObject({
        inputTokens: null,
        outputTokens: 5,
        file: {
          path: 't.jsonl',
          type: 'mooncake_trace',
          strategy: 'sequential',
          blockTokens: 16,
          delayRatio: 1,
          history: 'recorded',
        },
      });
    });

    test.each([
      [['--streaming'], true],
      [['--no-streaming'], false],
      [[], null],
    ])('%j', (argv, stream) => {
      expect(traffic(...argv).stream).toBe(stream);
    });

    test('extra inputs, and --ignore-eos as one of them', () => {
      expect(
        requestedFields(
          options('--ignore-eos', '--extra-inputs', 'temperature:0', '--extra-inputs', '{"nvext":{"a":1}}'),
        ),
      ).toEqual({
        ignore_eos: true,
        temperature: 0,
        nvext: { a: 1 },
      });
    });

    test.each([
      [['--streaming', '--no-streaming'], '--streaming and --no-streaming cannot be used together'],
      [['--seq-dist', '10,5:100', '--isl', '5'], '--isl cannot be used with --seq-dist: it sets all lengths'],
      [['--seq-dist', '10,5:90'], "--seq-dist '10,5:90': the percentages add up to 90, not to 100"],
      [['--num-prefix-prompts', '2'], '--num-prefix-prompts requires --prefix-prompt-length'],
      [['--input-file', 'x', '--isl-stddev', '2'], '--isl-stddev cannot be used with --input-file: the file sets it'],
      [
        ['--input-file', 'x', '--session-turns-mean', '2'],
        '--session-turns-mean cannot be used with --input-file: the file sets it',
      ],
      [['--endpoint-type', 'chatt'], "--endpoint-type is 'chatt' and must be one of chat, completions, responses"],
    ])('%j', (argv, message) => {
      expect(() => traffic(...argv)).toThrow(ExpectedError);
      expect(() => traffic(...argv)).toThrow(message);
    });

    test('--extra-inputs without a value', () => {
      expect(() => requestedFields(options('--extra-inputs', 'x'))).toThrow(ExpectedError);
    });
  });
});

describe('trace schedule', () => {
  let folder = '';
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'llmbench-traces-'));
    await writeFile(
      join(folder, 'timed'),
      '\n{"timestamp": 0, "input_length": 5}\n{"timestamp": 9, "input_length": 5}\n',
    );
    await writeFile(join(folder, 'untimed'), '{"input_length": 5}\n');
    await writeFile(join(folder, 'broken'), '{"timestamp": 1,\n');
  });
  afterAll(() => rm(folder, { recursive: true }));

  const options = (file: string | null, more: Partial<ScheduleOptions> = {}): ScheduleOptions => ({
    'fixed-schedule': false,
    'no-fixed-schedule': false,
    'request-rate': null,
    stages: null,
    'input-file': file === null ? null : join(folder, file),
    'custom-dataset-type': 'mooncake_trace',
    ...more,
  });

  describe('a trace with timestamps is followed, as in AIPerf', () => {
    test.each([
      ['timed', {}, true],
      ['untimed', {}, false],
      ['broken', {}, false],
      ['no such file', {}, false],
      [null, {}, false],
      ['timed', { 'custom-dataset-type': 'single_turn' }, false],
      ['timed', { 'no-fixed-schedule': true }, false],
      ['timed', { 'no-fixed-schedule': true, 'request-rate': [5] }, false],
      ['untimed', { 'request-rate': [5] }, false],
      ['untimed', { 'fixed-schedule': true }, true],
    ] as const)('%s %j: %s', (file, more, followed) => {
      expect(followsSchedule(options(file, more))).toBe(followed);
    });

    test('a rate or stages beside it are refused', () => {
      expect(() => followsSchedule(options('timed', { 'request-rate': [5] }))).toThrow(
        'has timestamps: remove --request-rate, or ignore the timestamps with --no-fixed-schedule',
      );
      expect(() => followsSchedule(options('timed', { stages: [] }))).toThrow('has timestamps: remove --stages');
    });
  });
});
