import { readFileSync } from 'node:fs';

import { describe, expect, test } from '@jest/globals';

import { parseExposition } from '../../core/exposition/index.ts';
import { pageReport, type AbsentGroup, type PageReport } from './page-report.ts';

const CLASSIC = 'text/plain; version=0.0.4';
const OPENMETRICS = 'application/openmetrics-text; version=1.0.0';

function report(text: string, contentType = CLASSIC): PageReport {
  return pageReport(parseExposition(new TextEncoder().encode(text), contentType));
}

const fixture = (name: string): string => readFileSync(new URL(`./fixtures/${name}`, import.meta.url), 'utf8');

const names = (groups: readonly AbsentGroup[]): string[] =>
  groups.flatMap(({ families }) => families.map(({ family }) => family));

/** The group whose condition names the switch. */
const behind = ({ absent }: PageReport, named: string): string[] =>
  names(absent.behind_switch.filter(({ when }) => when.includes(named)));

describe('pages of real servers, counted by hand', () => {
  test.each([
    ['vllm.txt', CLASSIC, ['vllm'], 54, 54, 0, 38],
    ['triton.txt', CLASSIC, ['triton'], 36, 34, 0, 0],
    ['dynamo-frontend.txt', CLASSIC, ['dynamo', 'dynamo-router'], 90, 90, 2, 0],
    ['dynamo-worker.txt', CLASSIC, ['dynamo', 'vllm', 'dynamo-router'], 27, 27, 4, 0],
    ['sglang.txt', CLASSIC, ['sglang'], 88, 88, 0, 0],
    ['trtllm.txt', CLASSIC, ['trtllm'], 65, 65, 0, 0],
    ['trtllm-openmetrics.txt', OPENMETRICS, ['trtllm'], 65, 65, 0, 0],
    ['trtllm-idle.txt', CLASSIC, ['trtllm'], 6, 6, 0, 0],
    ['lmcache.txt', CLASSIC, ['lmcache'], 80, 80, 0, 0],
    ['smg.txt', CLASSIC, ['smg'], 52, 52, 0, 0],
    ['sglang-router.txt', CLASSIC, ['smg'], 17, 17, 0, 0],
  ])('%s', (file, contentType, systems, families, known, deprecated, creationTimes) => {
    const found = report(fixture(file), contentType);
    expect(found.systems.map(({ system }) => system)).toEqual(systems);
    expect(found.families).toBe(families);
    expect(found.known).toHaveLength(known);
    expect(found.unknown).toHaveLength(families - known);
    expect(found.runtime).toEqual([]);
    expect(found.deprecated).toHaveLength(deprecated);
    expect(found.creation_times).toBe(creationTimes);
    expect(found.mistyped).toEqual([]);
    expect(found.untyped).toEqual([]);
    const present = found.known.map(({ catalog_name }) => catalog_name);
    expect(present.filter((name) => names(Object.values(found.absent).flat()).includes(name))).toEqual([]);
  });

  test("a model's own families are the unknown ones of Triton's page", () => {
    expect(report(fixture('triton.txt')).unknown).toEqual([
      { family: 'demo_output_tokens', type: 'counter', samples: 1 },
      { family: 'demo_requests_running', type: 'gauge', samples: 1 },
    ]);
  });

  test('no family is reported absent on a page with default settings', () => {
    for (const file of ['vllm.txt', 'trtllm.txt', 'lmcache.txt', 'smg.txt', 'sglang-router.txt'])
      expect([file, names(report(fixture(file)).absent.expected)]).toEqual([file, []]);
    // Releases older than the family, as the catalog states.
    expect(report(fixture('dynamo-frontend.txt')).absent.expected.flatMap(({ families }) => families)).toEqual([
      { family: 'dynamo_tokio_queue_overload_warnings_total', since: '1.6' },
      { family: 'dynamo_transport_tcp_accept_backoff_total', since: '1.5' },
    ]);
    expect(report(fixture('triton.txt')).absent.expected).toEqual([
      expect.objectContaining({ families: [{ family: 'nv_model_load_duration_secs', since: 'after 2.51.0' }] }),
    ]);
  });
});

describe('switches that are off', () => {
  test('vLLM: the connectors and options of the families that are absent', () => {
    const vllm = report(fixture('vllm.txt'));
    expect(behind(vllm, '--kv-cache-metrics')).toContain('vllm:kv_block_lifetime_seconds');
    expect(behind(vllm, '--enable-lora')).toEqual(['vllm:lora_requests_info']);
    expect(behind(vllm, '--speculative-config')).toContain('vllm:spec_decode_num_drafts_total');
    expect(vllm.switches.map(({ name }) => name)).toContain('--enable-prompt-tokens-details');
  });

  test('Triton: --metrics-config', () => {
    const page = fixture('triton.txt').replaceAll(/^.*_summary_.*\n/gm, '');
    expect(behind(report(page), '--metrics-config summary_latencies=true')).toContain('nv_inference_queue_summary_us');
    expect(behind(report(page), '--metrics-config histogram_latencies=true')).toEqual([
      'nv_inference_first_response_histogram_ms',
    ]);
  });

  test('TensorRT-LLM: iteration statistics', () => {
    const page = 'trtllm_request_success_total{finished_reason="stop"} 1\n';
    expect(behind(report(page), 'enable_iter_perf_stats')).toContain('trtllm_num_requests_running');
    expect(report(page).switches.map(({ name }) => name)).toContain('return_perf_metrics: true');
  });

  test('SGLang: the page exists, so --enable-metrics is on and its families only wait for an event', () => {
    const page = '# TYPE sglang:max_total_num_tokens gauge\nsglang:max_total_num_tokens 4096\n';
    const { absent } = report(page);
    expect(names(absent.not_yet)).toContain('sglang:time_to_first_token_seconds');
    expect(names(absent.behind_switch)).toContain('sglang:hicache_host_used_tokens');
    expect(names(absent.expected)).toContain('sglang:context_len');
  });

  test("Dynamo's frontend: the workers' families are on other pages, which need DYN_SYSTEM_PORT", () => {
    const { absent, switches } = report(fixture('dynamo-frontend.txt'));
    const worker = absent.other_pages.filter(({ system, part }) => system === 'dynamo' && part === 'worker');
    expect(names(worker)).toContain('dynamo_component_requests_total');
    expect(worker.some(({ when }) => when.includes('DYN_SYSTEM_PORT'))).toBe(true);
    expect(switches.map(({ name }) => name)).toContain('DYN_SYSTEM_PORT');
    expect(names(absent.behind_switch)).not.toContain('dynamo_component_requests_total');
  });
});

describe('spellings and types', () => {
  test('types under sglang:, samples under sglang_: one family each (prometheus/client_python #1177)', () => {
    const page = [
      '# TYPE sglang:token_usage gauge',
      'sglang_token_usage{tp_rank="0"} 0.5',
      '# TYPE sglang:num_requests counter',
      'sglang_num_requests_total{is_streaming="true"} 3',
      '# TYPE sglang:queue_time_seconds histogram',
      'sglang_queue_time_seconds_bucket{le="1.0"} 1',
      'sglang_queue_time_seconds_bucket{le="+Inf"} 1',
      'sglang_queue_time_seconds_count 1',
      'sglang_queue_time_seconds_sum 0.25',
      '# EOF',
      '',
    ].join('\n');
    const { known, unknown, untyped, mistyped } = report(page, OPENMETRICS);
    expect(known.map(({ catalog_name, type, samples }) => [catalog_name, type, samples])).toEqual([
      ['sglang:token_usage', 'gauge', 1],
      ['sglang:num_requests_total', 'counter', 1],
      ['sglang:queue_time_seconds', 'histogram', 4],
    ]);
    expect([unknown, untyped, mistyped]).toEqual([[], [], []]);
  });

  test('a type that differs from the catalog is reported, with the release that has it', () => {
    const page = [
      '# TYPE sglang:kv_transfer_latency_ms gauge',
      'sglang:kv_transfer_latency_ms 3',
      '# TYPE sglang:num_running_reqs counter',
      'sglang:num_running_reqs 1',
      'sglang:num_queue_reqs 0',
      '',
    ].join('\n');
    const { mistyped, untyped } = report(page);
    expect(mistyped).toEqual([
      {
        family: 'sglang:kv_transfer_latency_ms',
        system: 'sglang',
        page_type: 'gauge',
        catalog_type: 'histogram',
        as_in: 'until early 2026',
      },
      {
        family: 'sglang:num_running_reqs',
        system: 'sglang',
        page_type: 'counter',
        catalog_type: 'gauge',
        as_in: null,
      },
    ]);
    expect(untyped).toEqual(['sglang:num_queue_reqs']);
  });

  test('a page of no known system: everything is unknown but the runtime', () => {
    const page = '# TYPE app_jobs gauge\napp_jobs 1\n# TYPE go_goroutines gauge\ngo_goroutines 8\n';
    const { systems, known, unknown, runtime, absent } = report(page);
    expect([systems, known]).toEqual([[], []]);
    expect(unknown).toEqual([{ family: 'app_jobs', type: 'gauge', samples: 1 }]);
    expect(runtime).toEqual([{ family: 'go_goroutines', type: 'gauge', samples: 1 }]);
    expect(absent).toEqual({ expected: [], not_yet: [], behind_switch: [], other_pages: [] });
  });

  test('an unknown family named _created is no creation time', () => {
    const page = '# TYPE vllm:mystery_created gauge\nvllm:mystery_created 1\n';
    const { unknown, creation_times } = report(page);
    expect(unknown.map(({ family }) => family)).toEqual(['vllm:mystery_created']);
    expect(creation_times).toBe(0);
  });
});
