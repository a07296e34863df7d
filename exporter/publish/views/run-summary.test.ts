import { expect, test } from '@jest/globals';
import { INDEX_VERSION } from '../../store/index/index-database.ts';
import { resultFile, runFile } from '../fixtures/run.ts';
import { resultSummary, runSummary } from './run-summary.ts';

/** `serve` reads summaries that an earlier version has written to the index. */
test('the fields of the summaries in the index: a change requires another version of the index', () => {
  const result = resultSummary(resultFile());
  expect({
    version: INDEX_VERSION,
    run: Object.keys(runSummary(runFile(), null)),
    result: [...Object.keys(result), ...Object.keys(result.window), ...Object.keys(result.numbers)],
  }).toEqual({
    version: 8,
    run: [
      ...['run_id', 'start', 'imported_at', 'import_position'],
      ...['status', 'scenario', 'model', 'endpoint_type', 'load', 'dataset', 'system', 'system_version'],
      ...[
        'origin',
        'tool',
        'tool_version',
        'fingerprint',
        'group_id',
        'step',
        'repeat',
        'tags',
        'recovered',
        'failure',
      ],
      ...['end', 'duration_seconds', 'measure_start', 'measure_end', 'phases', 'stages'],
      ...['target_changes', 'progress', 'numbers'],
      'verdict',
    ],
    result: [
      ...['window', 'stages', 'target_changes', 'numbers', 'start', 'end', 'requests'],
      ...[
        'time_to_first_token_seconds',
        'inter_token_latency_seconds',
        'request_latency_seconds',
        'request_throughput',
      ],
      ...[
        'output_token_throughput',
        'document_throughput',
        'error_ratio',
        'goodput',
        'good_request_ratio',
        'client_verdict',
        'slos',
      ],
    ],
  });
});
