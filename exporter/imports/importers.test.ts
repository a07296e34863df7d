import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { importInto, inTemporaryFolder } from './testing/import-folder.ts';

const outcomeOf = (name: string, text: string) =>
  inTemporaryFolder(async (folder) => {
    const results = join(folder, 'results');
    await mkdir(results);
    await writeFile(join(results, name), text);
    const { report } = await importInto(join(folder, 'runs'), [results]);
    return report;
  });

describe('results of tools that are recognized and cannot be imported are refused with the name of the tool', () => {
  // The forms are those of k6's and Locust's documentation.
  test.each([
    ['k6', 'summary.json', '{"root_group": {"name": ""}, "metrics": {"http_req_duration": {"avg": 5.1}}}'],
    ['k6', 'out.json', '{"type":"Metric","data":{"name":"http_reqs","type":"counter"},"metric":"http_reqs"}\n{}\n'],
    ['k6', 'out.csv', 'metric_name,timestamp,metric_value,check,error\nhttp_reqs,1595325560,1.0,,\n'],
    ['locust', 'run_stats.csv', 'Type,Name,Request Count,Failure Count,Median Response Time\nGET,/,3,0,5\n'],
    ['locust', 'run_stats_history.csv', 'Timestamp,User Count,Type,Name,Requests/s\n1,1,,Aggregated,3\n'],
    ['locust', 'stats.json', '[{"name": "/", "method": "GET", "num_requests": 3, "response_times": {"5": 3}}]'],
  ])('%s: %s', async (tool, name, text) => {
    const { outcomes, unrecognized } = await outcomeOf(name, text);
    expect(outcomes).toMatchObject([{ status: 'refused', tool, missing: false }]);
    expect(outcomes[0]).toMatchObject({ reason: expect.stringContaining('cannot be imported') as unknown });
    expect(unrecognized).toEqual([]);
  });
});

describe('a mapping is proposed for what a mapping can read', () => {
  test.each([
    ['a CSV with a head', 'mine.csv', 'started,total\n1.5,20\n'],
    ['lines of flat objects', 'mine.jsonl', '{"started": 1, "total": 2}\n{"started": 2, "total": 2}\n'],
    ['a list of flat objects', 'mine.json', '[\n  {"started": 1, "total": 2, "name": "a"},\n  {"started": 2}\n]'],
    ['one flat object', 'mine.json', '{"n": 5, "p99_ms": 20}'],
  ])('%s', async (_, name, text) => {
    expect(await outcomeOf(name, text)).toMatchObject({ unrecognized: [name], mappable: [name] });
  });

  test.each([
    ['nested JSON', 'mine.json', '{"results": {"ttft": {"mean": 1, "p99": 2}}}'],
    ['a list of nested objects', 'mine.json', '[{"request": {"start": 1, "end": 2}}]'],
    ['lines of nested objects', 'mine.jsonl', '{"m": {"start": 1}}\n{"m": {"start": 1}}\n'],
    ['a table without names', 'mine.csv', '1,2,3\n4,5,6\n'],
    ['a text', 'notes.txt', 'started, and it went well\nthen, it ended\n'],
    ['a configuration', 'settings.json', '{"name": "x", "version": "1.0"}'],
  ])('not for %s', async (_, name, text) => {
    expect(await outcomeOf(name, text)).toMatchObject({ unrecognized: [name], mappable: [] });
  });
});
