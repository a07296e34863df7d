import {
  type DataFrame,
  dateTime,
  type DataQueryRequest,
  type DataSourceInstanceSettings,
  LoadingState,
} from '@grafana/data';
import { setTemplateSrv, type TemplateSrv } from '@grafana/runtime';
import { firstValueFrom } from 'rxjs';
import { fakeBackend, httpError } from '../../../test/backend.ts';
import { runSummary } from '../../../../core/api/testing/run-summary.ts';
import { RunsDataSource } from './RunsDataSource.ts';
import type { RunsOptions, RunsQuery } from './types.ts';

const [FROM, TO] = [Date.parse('2026-11-21T09:00:00Z'), Date.parse('2026-11-21T11:00:00Z')];
const source = new RunsDataSource({ url: '/proxy' } as DataSourceInstanceSettings<RunsOptions>);

beforeEach(() => {
  // Grafana formats several values as a,b with the csv format.
  const replace = (text: string) => text.replace('$run', 'a,b').replace('$scenario', 'chat,rag');
  setTemplateSrv({ replace } as unknown as TemplateSrv);
});

async function query(...targets: Array<Partial<RunsQuery>>) {
  const request = {
    targets: targets.map((target, i) => ({ refId: String.fromCharCode(65 + i), ...target })),
    range: { from: dateTime(FROM), to: dateTime(TO) },
    scopedVars: {},
  };
  return firstValueFrom(source.query(request as unknown as DataQueryRequest<RunsQuery>));
}

function column(frame: DataFrame | undefined, name: string) {
  return frame?.fields.find((field) => field.name === name)?.values;
}

test('runs: one row each, what is missing is null', async () => {
  const requests = fakeBackend(() => ({
    runs: [runSummary(), runSummary({ run_id: 'b', numbers: null, start: null })],
  }));
  const { data, state } = await query({ queryType: 'runs', scenario: ['$scenario'], inTimeRange: true });
  expect(state).toBe(LoadingState.Done);
  expect(requests[0]?.searchParams.getAll('scenario')).toEqual(['chat', 'rag']);
  expect(requests[0]?.searchParams.get('from')).toBe(String(FROM));
  expect(column(data[0], 'Run')).toEqual(['a', 'b']);
  expect(column(data[0], 'Start')).toEqual([Date.parse('2026-11-21T10:00:00Z'), null]);
  expect(column(data[0], 'TTFT p99')).toEqual([0.4, null]);
});

test('requests: a point per request at its wall time, in the order of sending; a frame per run of a variable', async () => {
  fakeBackend(({ pathname }) => ({
    run_id: pathname.split('/').at(-2),
    zero: { start: '2026-11-21T10:00:00.000Z', measure_seconds: 1 },
    sampled: { shown: 2, of: 4, every: 2 },
    columns: {
      sent_seconds: [2.5, 1],
      request_latency_seconds: [null, 0.5],
      outcome: ['timeout', 'ok'],
      reason: ['request_timeout', null],
      phase: ['measure', 'measure'],
    },
  }));
  const { data } = await query({ queryType: 'requests', runId: '$run', value: 'request_latency_seconds' });
  expect(data.map(({ name, refId }) => [name, refId])).toEqual([
    ['a', 'A'],
    ['b', 'A'],
  ]);
  const zero = Date.parse('2026-11-21T10:00:00Z');
  expect(column(data[0], 'Time')).toEqual([zero + 1000, zero + 2500]);
  expect(column(data[0], 'request_latency_seconds')).toEqual([0.5, null]);
  expect(column(data[0], 'outcome')).toEqual(['ok', 'timeout']);
  expect(data[0]?.meta?.notices?.[0]?.text).toBe('One request in 2 is shown: 2 of 4.');
});

test('distribution: values and shares as they come', async () => {
  const requests = fakeBackend(() => ({
    run_id: 'a',
    measure: 'time_to_first_token',
    unit: 'seconds',
    n: 3,
    between: 0,
    values: [0.1, 0.2],
    share: [1 / 3, 1],
  }));
  const { data } = await query({ queryType: 'distribution', runId: 'a', measure: 'time_to_first_token' });
  expect(requests[0]?.pathname).toBe('/proxy/api/v1/runs/a/distribution');
  expect(column(data[0], 'Share at most')).toEqual([1 / 3, 1]);
});

test('annotations: regions with tags; what lasts ends with the range', async () => {
  fakeBackend(() => ({
    total: 1,
    annotations: [
      {
        id: 'a',
        run_id: 'a',
        kind: 'run',
        phase: null,
        stage: null,
        time: FROM,
        timeEnd: null,
        title: 'run',
        text: 'a',
        tags: ['chat'],
      },
    ],
  }));
  const { data } = await query({ queryType: 'annotations' });
  expect(column(data[0], 'timeEnd')).toEqual([TO]);
  expect(column(data[0], 'tags')).toEqual([['chat']]);
});

test('a query that fails leaves the others', async () => {
  fakeBackend(({ pathname }) => {
    if (pathname.includes('/runs/gone')) {
      throw httpError(404, { detail: 'there is no run gone' });
    }
    return { runs: [] };
  });
  const { data, errors, state } = await query({ queryType: 'runs' }, { queryType: 'measures', runId: 'gone' });
  expect(data).toHaveLength(1);
  expect(errors).toEqual([{ refId: 'B', message: 'there is no run gone.' }]);
  expect(state).toBe(LoadingState.Error);
});

test('a query without a run is not sent', () => {
  expect(source.filterQuery({ refId: 'A', queryType: 'measures' })).toBe(false);
  expect(source.filterQuery({ refId: 'A', queryType: 'measures', runId: 'a' })).toBe(true);
  expect(source.filterQuery({ refId: 'A', queryType: 'runs' })).toBe(true);
});

test('the health check counts the runs, or says why not', async () => {
  fakeBackend(() => ({ version: '1.2.3', api_version: 'v1', runs: { finished: 1, running: 2, damaged: 0 } }));
  expect(await source.testDatasource()).toEqual({
    status: 'success',
    message: 'Connected to llmbench 1.2.3: 1 finished run, 2 running.',
  });
  fakeBackend(() => {
    throw httpError(502);
  });
  expect(await source.testDatasource()).toMatchObject({
    status: 'error',
    message: expect.stringMatching(/cannot reach/),
  });
});
