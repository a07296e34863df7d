// Generated from schemas/openapi.yaml by `npm run api-types`. Do not edit.
/* eslint-disable */

export interface paths {
    "/annotations": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["listAnnotations"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/compare": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["compareRuns"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/openapi.yaml": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["getDescription"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/runs": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["listRuns"];
        put?: never;
        post: operations["startRun"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/runs/{run_id}": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                run_id: components["parameters"]["run"];
            };
            cookie?: never;
        };
        get: operations["getRun"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/runs/{run_id}/distribution": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                run_id: components["parameters"]["run"];
            };
            cookie?: never;
        };
        get: operations["getRunDistribution"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/runs/{run_id}/records": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                run_id: components["parameters"]["run"];
            };
            cookie?: never;
        };
        get: operations["getRunRecords"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/runs/{run_id}/series": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                run_id: components["parameters"]["run"];
            };
            cookie?: never;
        };
        get: operations["getRunSeries"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/runs/{run_id}/servers": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                run_id: components["parameters"]["run"];
            };
            cookie?: never;
        };
        get: operations["getRunServers"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/runs/{run_id}/tags": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                run_id: components["parameters"]["run"];
            };
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["changeRunTags"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/scenarios": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["listScenarios"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/scenarios/{name}": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                name: string;
            };
            cookie?: never;
        };
        get: operations["getScenario"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/scenarios/{name}/baseline": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                name: string;
            };
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["changeBaseline"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/starts": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["listStarts"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/starts/{run_id}": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                run_id: components["parameters"]["run"];
            };
            cookie?: never;
        };
        get: operations["getStart"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/status": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["getStatus"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/sweeps": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["listSweeps"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/sweeps/{sweep_id}": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                sweep_id: string;
            };
            cookie?: never;
        };
        get: operations["getSweep"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/values/{name}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["listValues"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
}
export type webhooks = Record<string, never>;
export interface components {
    schemas: {
        Annotations: {
            annotations: {
                id: string;
                kind: "run" | "phase" | "stage";
                phase: "warmup" | "measure" | "cooldown" | null;
                run_id: string;
                stage: number | null;
                tags: string[];
                text: string;
                time: number;
                timeEnd: number | null;
                title: string;
            }[];
            total: number;
        };
        BaselineChange: {
            action: "accept" | "drop" | "pin" | "unpin";
            author: string;
            reason: string;
            run_ids: string[];
        };
        BaselineEntry: {
            action: "accept" | "drop" | "pin" | "unpin" | "acknowledge" | "detect";
            at: string;
            author: string | null;
            detect?: number | null;
            level?: "new";
            reason: string | null;
            run_ids: string[];
            scenario: string;
            schema_version: 1;
        };
        ChangedBaseline: {
            accepted: string[];
            dropped: string[];
            pinned: string[];
            scenario: string;
        };
        ChangedTags: {
            run_id: string;
            tags: components["schemas"]["Tags"];
        };
        ChangePoint: {
            clock: components["schemas"]["Clock"];
            definition: string;
            direction: components["schemas"]["Direction"];
            measure: string;
            origin: "client" | "server";
            p: number;
            population: components["schemas"]["Population"];
            previous_run_id: string;
            ratio: number | null;
            run_id: string;
            runs: {
                after: number;
                before: number;
            };
            stat: string;
            unit: components["schemas"]["Unit"];
            worse: boolean;
        };
        Clock: "sent" | "due";
        Comparison: {
            accepted_run_ids?: components["schemas"]["VerdictEntry_runIds"];
            anchor?: Record<string, never> | null;
            design: "pairs" | "sets" | "history";
            effect_meaning: string | null;
            explanation: {
                compared: number;
                not_used: {
                    problem: "no_server_metrics" | "not_exact" | "unreadable";
                    run_id: string;
                }[];
                runs: {
                    a: number;
                    b: number;
                };
                signals: {
                    family_a: string;
                    family_b: string;
                    look_at: string;
                    median_a: number;
                    median_b: number;
                    moved_with: string[];
                    moved_with_titles: string[];
                    p: number;
                    q: number;
                    ratio: number | null;
                    signal: string;
                    title: string;
                    unit: string;
                }[];
            } | null;
            left_out: string | null;
            measures: (components["schemas"]["VerdictEntry_measure"] & {
                title: string;
                values: {
                    a: ((number | null) | (number | null)[])[];
                    b: ((number | null) | (number | null)[])[];
                    median_a: number | null;
                    median_b: number | null;
                };
            })[];
            needs: components["schemas"]["VerdictEntry_needs"];
            next_command: string | null;
            open_regression?: components["schemas"]["VerdictEntry_openRegression"] | null;
            preflight: {
                check: "missing_shards" | "scenario" | "fingerprint" | "input_tokens" | "output_tokens" | "cached_input_ratio" | "request_rate" | "client" | "foreign_traffic" | "time_order";
                outcome: "failed" | "unknown" | "accepted";
                run_ids: components["schemas"]["VerdictEntry_runIds"];
                sentence: string;
            }[];
            reason: components["schemas"]["VerdictEntry_reason"];
            runs: {
                a: components["schemas"]["VerdictEntry_runIds"];
                b: components["schemas"]["VerdictEntry_runIds"];
            };
            scenario: string;
            scenarios: {
                a: string[];
                b: string[];
            };
            sentence: string;
            state?: "unjudged" | "ok" | "suspect" | "regressed" | "recovered";
            verdict: components["schemas"]["VerdictEntry_verdict"];
        };
        Direction: "lower" | "higher" | "none";
        Distribution: {
            between: number;
            clock: components["schemas"]["Clock"];
            definition: string;
            infinite: number;
            measure: components["schemas"]["DistributionMeasure"];
            n: number;
            percentiles: {
                p1: components["schemas"]["NullableNumber"];
                p5: components["schemas"]["NullableNumber"];
                p10: components["schemas"]["NullableNumber"];
                p25: components["schemas"]["NullableNumber"];
                p50: components["schemas"]["NullableNumber"];
                p75: components["schemas"]["NullableNumber"];
                p90: components["schemas"]["NullableNumber"];
                p95: components["schemas"]["NullableNumber"];
                p99: components["schemas"]["NullableNumber"];
                p99_9: components["schemas"]["NullableNumber"];
            };
            population: components["schemas"]["Population"];
            run_id: string;
            share: number[];
            shown: number;
            unit: components["schemas"]["Unit"];
            values: number[];
        };
        DistributionMeasure: "time_to_first_token" | "time_to_first_output_token" | "time_to_second_token" | "inter_token_latency" | "inter_chunk_latency" | "request_latency" | "decode_duration" | "schedule_delay" | "connect_time" | "input_sequence_length" | "output_sequence_length" | "output_token_count" | "reasoning_token_count" | "cached_input_tokens" | "output_length_difference_ratio" | "tokens_per_chunk" | "prefill_throughput_per_user" | "output_token_throughput_per_user" | "e2e_output_token_throughput";
        Instant: string | null;
        KeyDistribution: null | {
            definition: string;
            mean: components["schemas"]["NullableNumber"];
            n: number | null;
            p50: components["schemas"]["NullableNumber"];
            p90: components["schemas"]["NullableNumber"];
            p99: components["schemas"]["NullableNumber"];
        };
        KeyNumbers: {
            client_verdict: "ok" | "saturated" | "unknown";
            error_ratio: components["schemas"]["NullableNumber"];
            good_request_ratio: components["schemas"]["NullableNumber"];
            goodput: components["schemas"]["NullableNumber"];
            inter_token_latency_seconds: components["schemas"]["KeyDistribution"];
            output_token_throughput: components["schemas"]["NullableNumber"];
            request_latency_seconds: components["schemas"]["KeyDistribution"];
            request_throughput: components["schemas"]["NullableNumber"];
            requests: {
                cancelled: number | null;
                error: number | null;
                ok: number | null;
                timeout: number | null;
            };
            slos: "met" | "not_met" | "undecided" | null;
            time_to_first_token_seconds: components["schemas"]["KeyDistribution"];
        };
        LoadWithinObjective: {
            confidence?: number;
            fails: number | null;
            holds: number | null;
            monotonic: boolean;
        };
        Moment: number | string;
        NullableNumber: number | null;
        Outcome: "ok" | "error" | "timeout" | "cancelled";
        PhaseName: "warmup" | "measure" | "cooldown";
        Population: "ok" | "all";
        Problem: {
            detail: string;
            parameters: {
                allowed: string[];
                name: string;
                value: string | null;
            }[];
            status: number;
            title: string;
            type: "about:blank";
        };
        Progress: {
            elapsed_seconds: number | null;
            phase: "warmup" | "measure" | "cooldown" | null;
            planned_seconds: number | null;
            requests_done: number;
            requests_planned: number | null;
        };
        Quantity: "time_to_first_token" | "time_per_output_token" | "inter_token_latency" | "request_latency" | "queue_time" | "prefill_time" | "decode_time" | "input_tokens" | "output_tokens" | "cached_input_tokens" | "prompt_tokens_total" | "generation_tokens_total" | "cached_prompt_tokens_total" | "requests_finished_total" | "requests_running" | "requests_in_flight" | "requests_waiting" | "kv_cache_usage";
        RecordField: "index" | "phase" | "outcome" | "reason" | "http_status" | "due_seconds" | "sent_seconds" | "first_content_seconds" | "last_content_seconds" | "end_seconds" | "time_to_first_token_seconds" | "time_to_first_token_from_due_seconds" | "inter_token_latency_seconds" | "request_latency_seconds" | "request_latency_from_due_seconds" | "schedule_delay_seconds" | "connect_seconds" | "input_tokens" | "output_tokens" | "reasoning_tokens" | "cached_tokens" | "chunks";
        Records: {
            columns: {
                cached_tokens?: components["schemas"]["NullableNumber"][];
                chunks?: components["schemas"]["NullableNumber"][];
                connect_seconds?: components["schemas"]["NullableNumber"][];
                due_seconds?: components["schemas"]["NullableNumber"][];
                end_seconds?: components["schemas"]["NullableNumber"][];
                first_content_seconds?: components["schemas"]["NullableNumber"][];
                http_status?: components["schemas"]["NullableNumber"][];
                index?: number[];
                input_tokens?: components["schemas"]["NullableNumber"][];
                inter_token_latency_seconds?: components["schemas"]["NullableNumber"][];
                last_content_seconds?: components["schemas"]["NullableNumber"][];
                outcome?: components["schemas"]["Outcome"][];
                output_tokens?: components["schemas"]["NullableNumber"][];
                phase?: components["schemas"]["PhaseName"][];
                reason?: (string | null)[];
                reasoning_tokens?: components["schemas"]["NullableNumber"][];
                request_latency_from_due_seconds?: components["schemas"]["NullableNumber"][];
                request_latency_seconds?: components["schemas"]["NullableNumber"][];
                schedule_delay_seconds?: components["schemas"]["NullableNumber"][];
                sent_seconds?: components["schemas"]["NullableNumber"][];
                time_to_first_token_from_due_seconds?: components["schemas"]["NullableNumber"][];
                time_to_first_token_seconds?: components["schemas"]["NullableNumber"][];
            };
            run_id: string;
            sampled: components["schemas"]["Sampled"];
            zero: components["schemas"]["Zero"];
        };
        ResultFile: {
            client: {
                cpu_seconds: number | null;
                event_loop_delay_max_seconds: number | null;
                event_loop_delay_p99_seconds: number | null;
                verdict: "ok" | "saturated" | "unknown";
                why: string | null;
            };
            cool_down?: {
                cancelled: number | null;
                error: number | null;
                ok: number | null;
                timeout: number | null;
            };
            errors: {
                cancelled?: number;
                compression?: number;
                connect_refused?: number;
                connect_timeout?: number;
                dns?: number;
                error_event?: number;
                first_token_timeout?: number;
                http_4xx?: number;
                http_5xx?: number;
                http_429?: number;
                idle_timeout?: number;
                malformed_event?: number;
                no_content?: number;
                no_finish?: number;
                not_a_stream?: number;
                other?: number;
                protocol?: number;
                redirect?: number;
                request_timeout?: number;
                reset?: number;
                tls?: number;
            };
            fingerprint: string;
            measures: (components["schemas"]["ResultFile_scalar"] | components["schemas"]["ResultFile_distribution"])[];
            requests: {
                cancelled: number | null;
                error: number | null;
                ok: number | null;
                timeout: number | null;
            };
            run_id: string;
            scenario: string;
            schema_version: 4;
            servers: Record<string, never> | components["schemas"]["ResultFile_servers"];
            slos: {
                comparison: "<" | "<=" | ">" | ">=";
                interval: null | [
                    number,
                    number
                ];
                limit: number;
                measure: string;
                stat: "p1" | "p5" | "p10" | "p25" | "p50" | "p75" | "p90" | "p95" | "p99" | "p99_9" | "mean" | "min" | "max" | "std" | null;
                unit: "seconds" | "tokens" | "ratio" | "requests" | "requests_per_second" | "tokens_per_second" | "joules" | "watts" | "joules_per_token" | "cost_per_million_tokens";
                value: number | null;
                verdict: "met" | "not_met" | "undecided";
                why: string | null;
            }[];
            stages: {
                end: string | null;
                errors: {
                    cancelled?: number;
                    compression?: number;
                    connect_refused?: number;
                    connect_timeout?: number;
                    dns?: number;
                    error_event?: number;
                    first_token_timeout?: number;
                    http_4xx?: number;
                    http_5xx?: number;
                    http_429?: number;
                    idle_timeout?: number;
                    malformed_event?: number;
                    no_content?: number;
                    no_finish?: number;
                    not_a_stream?: number;
                    other?: number;
                    protocol?: number;
                    redirect?: number;
                    request_timeout?: number;
                    reset?: number;
                    tls?: number;
                };
                load: {
                    concurrency: number | null;
                    duration_seconds: number;
                    request_rate: null | {
                        end: number;
                        start: number;
                    };
                };
                measures: (components["schemas"]["ResultFile_scalar"] | components["schemas"]["ResultFile_distribution"])[];
                requests: {
                    cancelled: number | null;
                    error: number | null;
                    ok: number | null;
                    timeout: number | null;
                };
                slos: {
                    comparison: "<" | "<=" | ">" | ">=";
                    interval: null | [
                        number,
                        number
                    ];
                    limit: number;
                    measure: string;
                    stat: "p1" | "p5" | "p10" | "p25" | "p50" | "p75" | "p90" | "p95" | "p99" | "p99_9" | "mean" | "min" | "max" | "std" | null;
                    unit: "seconds" | "tokens" | "ratio" | "requests" | "requests_per_second" | "tokens_per_second" | "joules" | "watts" | "joules_per_token" | "cost_per_million_tokens";
                    value: number | null;
                    verdict: "met" | "not_met" | "undecided";
                    why: string | null;
                }[];
                stage: number;
                start: string | null;
                window: {
                    end: string | null;
                    seconds: number | null;
                    start: string | null;
                };
            }[];
            status: "completed" | "aborted" | "failed";
            window: {
                end: string | null;
                seconds: number | null;
                start: string | null;
            };
        };
        ResultFile_distribution: {
            clock: "sent" | "due";
            definition: string;
            effective_n: number | null;
            kind: "distribution";
            max: number | null;
            mean: number | null;
            measure: string;
            min: number | null;
            n: number | null;
            origin: "client" | "server";
            percentiles: {
                p1: components["schemas"]["ResultFile_percentile"];
                p5: components["schemas"]["ResultFile_percentile"];
                p10: components["schemas"]["ResultFile_percentile"];
                p25: components["schemas"]["ResultFile_percentile"];
                p50: components["schemas"]["ResultFile_percentile"];
                p75: components["schemas"]["ResultFile_percentile"];
                p90: components["schemas"]["ResultFile_percentile"];
                p95: components["schemas"]["ResultFile_percentile"];
                p99: components["schemas"]["ResultFile_percentile"];
                p99_9: components["schemas"]["ResultFile_percentile"];
            };
            population: "ok" | "all";
            std: number | null;
            unit: "seconds" | "tokens" | "ratio" | "requests" | "requests_per_second" | "tokens_per_second" | "joules" | "watts" | "joules_per_token" | "cost_per_million_tokens";
        };
        ResultFile_energy_of_gpu: {
            gpu: string;
            idle_watts: number | null;
            joules: number | null;
            model: string | null;
            readings: number;
            resolution_seconds: number | null;
            source: "energy_counter" | "power" | null;
            watts: number | null;
        };
        ResultFile_gpu_energy: {
            by_gpu: components["schemas"]["ResultFile_energy_of_gpu"][];
            gpus: number;
            idle_watts: number | null;
            joules: number | null;
            resolution_seconds: number | null;
            source: "energy_counter" | "power" | null;
            watts: number | null;
        };
        ResultFile_percentile: {
            bounds: null | [
                number,
                number
            ];
            ci95: null | [
                number,
                number
            ];
            value: number | null;
        };
        ResultFile_scalar: {
            clock: "sent" | "due";
            definition: string;
            kind: "scalar";
            measure: string;
            origin: "client" | "server";
            population: "ok" | "all";
            unit: "seconds" | "tokens" | "ratio" | "requests" | "requests_per_second" | "tokens_per_second" | "joules" | "watts" | "joules_per_token" | "cost_per_million_tokens";
            value: number | null;
        };
        ResultFile_server_requests: {
            client: number;
            cool_down?: number;
            difference: number | null;
            family: string;
            population: string;
            server: number | null;
            warmup?: number;
        };
        ResultFile_server_target: {
            dropped_samples: number;
            dropped_series: number;
            failed_scrapes: number;
            notes: string[];
            restarts: number;
            scrape_duration_seconds: {
                p50: number | null;
                p99: number | null;
            };
            scrapes: number;
            skipped_scrapes: number;
            state: "waiting" | "up" | "gone" | "not_metrics" | "several_servers";
            system: string | null;
            target: string;
        };
        ResultFile_servers: {
            collector: {
                cpu_seconds: number | null;
                cpu_share: number | null;
                interval_seconds: number;
            };
            exact: boolean | null;
            gpu_energy: null | components["schemas"]["ResultFile_gpu_energy"];
            inexact_families?: {
                family: string;
                observations: number;
                requests: number;
                target: string;
            }[];
            requests: null | components["schemas"]["ResultFile_server_requests"];
            targets: components["schemas"]["ResultFile_server_target"][];
            why: string | null;
        };
        Role: "read" | "annotate" | "write-baseline" | "start-runs";
        Run: {
            has_servers: boolean;
            result: null | components["schemas"]["ResultFile"];
            run: components["schemas"]["RunFile"];
            summary: components["schemas"]["RunSummary"];
        };
        RunFile: {
            client: null | {
                http_trace: boolean;
                max_tokens_field?: string;
                reset_kv_cache: boolean;
                transport: "undici" | "raw" | null;
            };
            command_line: string[] | null;
            comparison_key: {
                cancellation: null | {
                    delay_seconds: number;
                    ratio: number;
                };
                cool_down?: true;
                dataset_plan_sha256: string | null;
                endpoint_type: string | null;
                load: {
                    arrival_pattern: string | null;
                    arrival_smoothness: number | null;
                    concurrency: number | null;
                    concurrency_ramp_seconds: number | null;
                    mode: "concurrency" | "request_rate" | "trace" | "stages";
                    prefill_concurrency: number | null;
                    prefill_concurrency_ramp_seconds: number | null;
                    request_rate: number | null;
                    request_rate_ramp_seconds: number | null;
                    stages?: {
                        concurrency: number | null;
                        duration_seconds: number;
                        request_rate: null | {
                            end: number;
                            start: number;
                        };
                    }[];
                } | null;
                measure_definitions: {
                    [key: string]: string;
                };
                model: string | null;
                output_fields?: string[];
                sampling: {
                    [key: string]: number | string | boolean | null;
                };
                stop: {
                    benchmark_duration_seconds: number | null;
                    request_count: number | null;
                };
                streaming: boolean | null;
                warmup: null | {
                    duration_seconds: number | null;
                    load: {
                        arrival_pattern: string | null;
                        arrival_smoothness: number | null;
                        concurrency: number | null;
                        concurrency_ramp_seconds: number | null;
                        mode: "concurrency" | "request_rate" | "trace" | "stages";
                        prefill_concurrency: number | null;
                        prefill_concurrency_ramp_seconds: number | null;
                        request_rate: number | null;
                        request_rate_ramp_seconds: number | null;
                        stages?: {
                            concurrency: number | null;
                            duration_seconds: number;
                            request_rate: null | {
                                end: number;
                                start: number;
                            };
                        }[];
                    };
                    request_count: number | null;
                };
            };
            dataset: null | {
                conversation: null | {
                    delay_seconds: {
                        mean: number;
                        stddev: number;
                    };
                    turns: {
                        mean: number;
                        stddev: number;
                    };
                };
                delay_factor: number | null;
                entries: number | null;
                file: null | {
                    block_tokens: number | null;
                    name: string;
                    sampling_strategy: string;
                    sha256: string;
                };
                input_tokens: null | {
                    mean: number;
                    stddev: number;
                };
                lengths: {
                    input_tokens: {
                        mean: number;
                        stddev: number;
                    };
                    output_tokens: {
                        mean: number;
                        stddev: number;
                    };
                    share: number;
                }[] | null;
                output_tokens: null | {
                    mean: number;
                    stddev: number;
                };
                prefix_prompts: null | {
                    count: number;
                    tokens: number;
                };
                prompt_variant: number | null;
                seed: number;
                shared_system_prompt_tokens: number;
                tokenizer: null | {
                    identity: string;
                    name: string;
                    revision: string;
                };
                type: string;
                user_context_tokens: number;
            };
            end: string | null;
            failure: string | null;
            fingerprint: string;
            gates: null | {
                goodput: {
                    limit: number;
                    measure: string;
                    unit: "seconds" | "tokens" | "ratio" | "requests" | "requests_per_second" | "tokens_per_second" | "joules" | "watts" | "joules_per_token" | "cost_per_million_tokens";
                }[];
                slos: {
                    comparison: "<" | "<=" | ">" | ">=";
                    limit: number;
                    measure: string;
                    stat: "p1" | "p5" | "p10" | "p25" | "p50" | "p75" | "p90" | "p95" | "p99" | "p99_9" | "mean" | "min" | "max" | "std" | null;
                    unit: "seconds" | "tokens" | "ratio" | "requests" | "requests_per_second" | "tokens_per_second" | "joules" | "watts" | "joules_per_token" | "cost_per_million_tokens";
                }[];
            };
            group_id: string | null;
            phases: {
                end: string | null;
                phase: "warmup" | "measure" | "cooldown";
                start: string | null;
            }[];
            process: null | {
                metrics_url: string | null;
                pid: number;
                server_metrics_urls: string[];
                start_time: string;
            };
            provenance: null | {
                ci: null | {
                    job: string | null;
                    provider: "github" | "gitlab" | "buildkite" | "jenkins";
                    ref: string | null;
                    repository: string | null;
                    run: string | null;
                    url: string | null;
                };
                gpu_price: null | {
                    currency: string | null;
                    gpus: number | null;
                    per_hour: number;
                };
                gpus: {
                    count: number;
                    driver_version: string | null;
                    memory_clock_hertz: number | null;
                    model: string;
                    sm_clock_hertz: number | null;
                    source: "dcgm" | "amd_exporter" | "nvidia_smi" | "rocm_smi";
                }[];
                machine: null | {
                    architecture: string;
                    cores: number;
                    cpu_model: string | null;
                    kernel: string;
                    memory_bytes: number;
                    node_version: string;
                };
                metadata: {
                    [key: string]: string;
                };
                server_image: string | null;
                servers: {
                    origin: string;
                    proxy?: string;
                    settings: {
                        [key: string]: string | number | boolean;
                    };
                    system: string | null;
                    version: string | null;
                }[];
                source_code: null | {
                    commit: string;
                    dirty: boolean | null;
                };
            };
            recovered: boolean;
            repeat: number | null;
            run_id: string;
            scenario: string;
            schema_version: 6;
            shard: string;
            shards?: {
                count: number;
                missing: string[];
            };
            source: null | {
                files: string[];
                format: string;
                format_version: string | null;
                imported_at: string | null;
                notes: string[];
                position: number | null;
                sha256: string;
                unknown: string[];
            };
            start: string | null;
            status: "running" | "completed" | "aborted" | "failed";
            step: number | null;
            tags: string[];
            target: {
                origin: string | null;
                origins: string[] | null;
                system: string | null;
                system_version: string | null;
            };
            tool: {
                name: string;
                version: string | null;
            };
        };
        RunPage: {
            limit: number;
            page: number;
            runs: components["schemas"]["RunSummary"][];
            total: number;
        };
        RunStart: {
            scenario: string;
        };
        RunStatus: "running" | "completed" | "aborted" | "failed";
        RunSummary: {
            dataset: string | null;
            duration_seconds: components["schemas"]["NullableNumber"];
            end: components["schemas"]["Instant"];
            endpoint_type: string | null;
            failure: string | null;
            fingerprint: string;
            group_id: string | null;
            import_position: number | null;
            imported_at: components["schemas"]["Instant"];
            load: string | null;
            measure_end: components["schemas"]["Instant"];
            measure_start: components["schemas"]["Instant"];
            model: string | null;
            numbers: null | components["schemas"]["KeyNumbers"];
            origin: string | null;
            phases: {
                end: components["schemas"]["Instant"];
                phase: components["schemas"]["PhaseName"];
                start: components["schemas"]["Instant"];
            }[];
            progress: null | components["schemas"]["Progress"];
            recovered: boolean;
            repeat: number | null;
            run_id: string;
            scenario: string;
            stages: {
                end: components["schemas"]["Instant"];
                load: string;
                stage: number;
                start: components["schemas"]["Instant"];
            }[];
            start: components["schemas"]["Instant"];
            status: components["schemas"]["RunStatus"];
            step: number | null;
            system: string | null;
            system_version: string | null;
            tags: string[];
            tool: string;
            tool_version: string | null;
            verdict: null | components["schemas"]["VerdictSummary"];
        };
        Sampled: {
            every: number;
            of: number;
            shown: number;
        };
        Scenario: {
            baseline: {
                accepted: string[];
                damaged_lines: number[];
                dropped: string[];
                entries: components["schemas"]["BaselineEntry"][];
                pinned: string[];
                total_entries: number;
                used: string[];
            };
            change_points: components["schemas"]["ChangePoint"][];
            damaged_verdict_lines: number[];
            measures: {
                clock: components["schemas"]["Clock"];
                definition: string;
                direction: components["schemas"]["Direction"];
                margin: number;
                measure: string;
                origin: "client" | "server";
                population: components["schemas"]["Population"];
                stat: string;
                title: string;
                unit: components["schemas"]["Unit"];
            }[];
            runs: components["schemas"]["ScenarioRun"][];
            summary: components["schemas"]["ScenarioSummary"];
            total_runs: number;
            total_verdicts: number;
            unreadable_runs: {
                reason: string;
                run_id: string;
            }[];
            verdicts: components["schemas"]["VerdictEntry"][];
        };
        ScenarioPage: {
            limit: number;
            page: number;
            scenarios: components["schemas"]["ScenarioSummary"][];
            total: number;
        };
        ScenarioRun: {
            accepted: boolean;
            end: components["schemas"]["Instant"];
            fingerprint: string;
            model: string | null;
            pinned: boolean;
            run_id: string;
            start: components["schemas"]["Instant"];
            system: string | null;
            system_version: string | null;
            tags: string[];
            tool: string;
            tool_version: string | null;
            values: (null | {
                ci95: (number | null)[] | null;
                n: number | null;
                value: (number | null) | (number | null)[];
            })[];
            verdict: components["schemas"]["VerdictName"] | null;
        };
        ScenarioSummary: {
            baseline: {
                accepted: number;
                pinned: number;
            };
            expected_interval_seconds: number | null;
            fingerprints: {
                fingerprint: string;
                runs: number;
            }[];
            last_completed: components["schemas"]["Instant"];
            open_regression: components["schemas"]["VerdictEntry_openRegression"] | null;
            overdue: boolean | null;
            runs: number;
            scenario: string;
            state: "unjudged" | "ok" | "suspect" | "regressed" | "recovered";
            undecided_checks: number;
            verdict: components["schemas"]["VerdictSummary"] | null;
        };
        Selectors: string[];
        ServerSeries: {
            run_id: string;
            series: {
                as: "value" | "per_second" | "mean";
                family: string;
                labels: {
                    [key: string]: string;
                };
                quantity: null | components["schemas"]["Quantity"];
                scrapes_per_point: number;
                seconds: number[];
                target: string;
                values: (number | null)[];
            }[];
            zero: components["schemas"]["Zero"];
        };
        ServersFile: {
            definitions: "llmbench" | "aiperf";
            interval_seconds: number;
            run_id: string | null;
            schema_version: 1;
            series: components["schemas"]["ServersFile_series"][];
            targets: components["schemas"]["ServersFile_target"][];
            window: {
                end: string;
                seconds: number;
                start: string;
            };
        };
        ServersFile_aiperf: {
            buckets: null | components["schemas"]["ServersFile_buckets"];
            kind: "aiperf";
            stats: {
                [key: string]: number;
            };
        };
        ServersFile_buckets: [
            string,
            number
        ][];
        ServersFile_counter: {
            increase: number | null;
            kind: "counter";
            rate_per_second: number | null;
            resets: number;
        };
        ServersFile_gauge: {
            kind: "gauge";
            longest_gap_seconds: number;
            max: number | null;
            mean: number | null;
            min: number | null;
            n: number;
            percentiles: {
                p1: number | null;
                p5: number | null;
                p10: number | null;
                p25: number | null;
                p50: number | null;
                p75: number | null;
                p90: number | null;
                p95: number | null;
                p99: number | null;
                p99_9: number | null;
            };
            std: number | null;
        };
        ServersFile_histogram: {
            buckets: null | components["schemas"]["ServersFile_buckets"];
            count: number | null;
            infeasible_sum: boolean;
            kind: "histogram";
            mean: number | null;
            non_monotonic_buckets?: boolean;
            percentiles: null | {
                p1: components["schemas"]["ServersFile_percentile"];
                p5: components["schemas"]["ServersFile_percentile"];
                p10: components["schemas"]["ServersFile_percentile"];
                p25: components["schemas"]["ServersFile_percentile"];
                p50: components["schemas"]["ServersFile_percentile"];
                p75: components["schemas"]["ServersFile_percentile"];
                p90: components["schemas"]["ServersFile_percentile"];
                p95: components["schemas"]["ServersFile_percentile"];
                p99: components["schemas"]["ServersFile_percentile"];
                p99_9: components["schemas"]["ServersFile_percentile"];
            };
            rate_per_second: number | null;
            resets: number;
            sum: number | null;
        };
        ServersFile_interval: [
            number | null,
            number | null
        ];
        ServersFile_percentile: {
            bounds: null | components["schemas"]["ServersFile_interval"];
            bounds_by_sum: null | components["schemas"]["ServersFile_interval"];
            estimate: number | null;
        };
        ServersFile_series: {
            description: string | null;
            family: string;
            labels: {
                [key: string]: string;
            };
            no_values: number;
            per: string | null;
            repeats: string | null;
            slices: null | components["schemas"]["ServersFile_slice"][];
            statistics: null | components["schemas"]["ServersFile_statistics"];
            target: string;
            type: "counter" | "gauge" | "histogram" | "unknown" | "info" | "summary";
            unit: string | null;
        };
        ServersFile_slice: {
            complete: boolean;
            end: string;
            start: string;
            statistics: components["schemas"]["ServersFile_statistics"];
        };
        ServersFile_statistics: components["schemas"]["ServersFile_counter"] | components["schemas"]["ServersFile_gauge"] | components["schemas"]["ServersFile_histogram"] | components["schemas"]["ServersFile_aiperf"];
        ServersFile_target: {
            dropped_samples: number;
            dropped_series: number;
            failed_scrapes: number;
            notes: string[];
            restarts: number;
            scrape_duration_seconds: {
                p50: number | null;
                p99: number | null;
            };
            scrapes: number;
            skipped_scrapes: number;
            state: "waiting" | "up" | "gone" | "not_metrics" | "several_servers";
            system: string | null;
            target: string;
        };
        StartedRun: {
            began: string | null;
            ended: string | null;
            exit_code: number | null;
            message: string | null;
            requested: string;
            run_id: string;
            scenario: string;
            state: "queued" | "running" | "ended";
        };
        Starts: {
            runs: components["schemas"]["StartedRun"][];
            scenarios: string[];
        };
        Status: {
            allows_baseline_changes: boolean;
            api_version: "v1";
            damaged: {
                reason: string;
                run_id: string;
            }[];
            roles: components["schemas"]["Role"][];
            runs: {
                damaged: number;
                finished: number;
                running: number;
            };
            version: string;
        };
        Sweep: {
            dataset: string | null;
            end: components["schemas"]["Instant"];
            endpoint_type: string | null;
            goodput_limits: {
                limit: number;
                measure: string;
                unit: components["schemas"]["Unit"];
            }[];
            gpus: number | null;
            knee: components["schemas"]["SweepKnee"] | null;
            load_mode: "concurrency" | "request_rate";
            model: string | null;
            origin: string | null;
            scenario: string;
            source: components["schemas"]["SweepSource"];
            start: components["schemas"]["Instant"];
            steps: components["schemas"]["SweepStep"][];
            sweep_id: string;
            system: string | null;
            system_version: string | null;
            tool: string;
            tool_version: string | null;
            within_objective: components["schemas"]["LoadWithinObjective"] | null;
        };
        SweepKnee: {
            figure: "output_token_throughput" | "request_throughput";
            load: number;
            method: "kneedle";
        };
        SweepPage: {
            limit: number;
            omitted_runs: number;
            page: number;
            sweeps: components["schemas"]["SweepSummary"][];
            total: number;
            unreadable_runs: {
                reason: string;
                run_id: string;
            }[];
        };
        SweepSource: {
            kind: "group" | "scenario";
            name: string;
        };
        SweepStep: {
            load: number;
            objective: ("met" | "not_met" | "undecided") | null;
            requests: {
                cancelled: number | null;
                error: number | null;
                ok: number | null;
                timeout: number | null;
            };
            runs: {
                end: components["schemas"]["Instant"];
                run_id: string;
                start: components["schemas"]["Instant"];
                status: "completed" | "aborted" | "failed";
            }[];
            slos: {
                comparison: "<" | "<=" | ">" | ">=";
                limit: number;
                measure: string;
                met: number;
                not_met: number;
                stat: string | null;
                undecided: number;
                unit: components["schemas"]["Unit"];
            }[];
            values: components["schemas"]["SweepValues"];
        };
        SweepSummary: {
            dataset: string | null;
            end: components["schemas"]["Instant"];
            endpoint_type: string | null;
            gpus: number | null;
            has_goodput: boolean;
            has_objectives: boolean;
            knee: components["schemas"]["SweepKnee"] | null;
            load_mode: "concurrency" | "request_rate";
            loads: number[];
            model: string | null;
            origin: string | null;
            runs: number;
            scenario: string;
            source: components["schemas"]["SweepSource"];
            start: components["schemas"]["Instant"];
            sweep_id: string;
            system: string | null;
            system_version: string | null;
            tool: string;
            tool_version: string | null;
            within_objective: components["schemas"]["LoadWithinObjective"] | null;
        };
        SweepValue: {
            max: number;
            mean: number;
            min: number;
            n: number;
        } | null;
        SweepValues: {
            error_ratio: components["schemas"]["SweepValue"];
            good_request_ratio: components["schemas"]["SweepValue"];
            goodput: components["schemas"]["SweepValue"];
            inter_token_latency_p50: components["schemas"]["SweepValue"];
            inter_token_latency_p90: components["schemas"]["SweepValue"];
            inter_token_latency_p95: components["schemas"]["SweepValue"];
            inter_token_latency_p99: components["schemas"]["SweepValue"];
            output_token_throughput: components["schemas"]["SweepValue"];
            request_latency_p50: components["schemas"]["SweepValue"];
            request_latency_p90: components["schemas"]["SweepValue"];
            request_latency_p95: components["schemas"]["SweepValue"];
            request_latency_p99: components["schemas"]["SweepValue"];
            request_throughput: components["schemas"]["SweepValue"];
            time_to_first_token_p50: components["schemas"]["SweepValue"];
            time_to_first_token_p90: components["schemas"]["SweepValue"];
            time_to_first_token_p95: components["schemas"]["SweepValue"];
            time_to_first_token_p99: components["schemas"]["SweepValue"];
            tokens_per_second_per_user_p50: components["schemas"]["SweepValue"];
            tokens_per_second_per_user_p90: components["schemas"]["SweepValue"];
            tokens_per_second_per_user_p95: components["schemas"]["SweepValue"];
            tokens_per_second_per_user_p99: components["schemas"]["SweepValue"];
            total_token_throughput: components["schemas"]["SweepValue"];
        };
        TagChange: {
            add?: components["schemas"]["Tags"];
            remove?: components["schemas"]["Tags"];
        };
        Tags: string[];
        Unit: "seconds" | "tokens" | "ratio" | "requests" | "requests_per_second" | "tokens_per_second" | "joules" | "watts" | "joules_per_token" | "cost_per_million_tokens";
        ValueName: "scenarios" | "models" | "systems" | "tools" | "tags" | "statuses" | "verdicts" | "groups";
        Values: {
            name: components["schemas"]["ValueName"];
            values: {
                runs: number;
                value: string;
            }[];
        };
        VerdictEntry: {
            anchor_verdict: components["schemas"]["VerdictEntry_verdict"] | null;
            at: string;
            author: string | null;
            baseline_run_ids: components["schemas"]["VerdictEntry_runIds"];
            blind?: boolean;
            detectable?: number | null;
            fingerprint: string;
            first_start?: string | null;
            left_out: string | null;
            measures: components["schemas"]["VerdictEntry_measure"][];
            needs: components["schemas"]["VerdictEntry_needs"];
            needs_to_recover?: number | null;
            reason: components["schemas"]["VerdictEntry_reason"];
            recovered?: boolean;
            run_ids: components["schemas"]["VerdictEntry_runIds"];
            scenario: string;
            schema_version: 1;
            sentence: string;
            verdict: components["schemas"]["VerdictEntry_verdict"];
        };
        VerdictEntry_effect: {
            estimate: number | null;
            high: number | null;
            low: number | null;
        };
        VerdictEntry_measure: {
            clock: "sent" | "due";
            confidence: number | null;
            definition: string;
            detectable: number | null;
            direction: "lower" | "higher" | "none";
            effect: components["schemas"]["VerdictEntry_effect"] | null;
            gating: boolean;
            margin: number;
            measure: string;
            method: "signed_rank_exact" | "signed_rank_normal" | "rank_sum_exact" | "rank_sum_normal" | "robust_shift" | null;
            needs: components["schemas"]["VerdictEntry_needs"];
            origin: "client" | "server";
            p: {
                adjusted: number;
                adjustment: "holm" | "benjamini_hochberg" | "none";
                raw: number;
            } | null;
            population: "ok" | "all";
            reason: components["schemas"]["VerdictEntry_reason"];
            runs: {
                a: number;
                b: number;
            };
            sentence: string;
            stat: string;
            title?: string;
            unit: "seconds" | "tokens" | "ratio" | "requests" | "requests_per_second" | "tokens_per_second" | "joules" | "watts" | "joules_per_token" | "cost_per_million_tokens";
            verdict: components["schemas"]["VerdictEntry_verdict"];
        };
        VerdictEntry_needs: null | {
            design: "pairs";
            further: number;
            pairs: number;
        } | {
            design: "sets";
            furtherA: number;
            furtherB: number;
        } | {
            design: "confirm";
            further: number;
        } | {
            design: "baseline";
            further: number;
        } | {
            design: "buckets";
            effect: number;
        } | {
            design: "requests";
            times: number;
        };
        VerdictEntry_openRegression: {
            acknowledged: {
                at: string;
                author: string | null;
                reason: string | null;
            } | null;
            baseline_run_ids: components["schemas"]["VerdictEntry_runIds"];
            found_at: string;
            largest: {
                clock: "sent" | "due";
                effect: components["schemas"]["VerdictEntry_effect"];
                measure: string;
                stat: string;
                title: string;
                unit: components["schemas"]["VerdictEntry_measure"]["unit"];
            } | null;
            needs_to_recover: number | null;
            run_ids: components["schemas"]["VerdictEntry_runIds"];
            sentence: string;
            since: string;
            since_run_id: string;
        };
        VerdictEntry_reason: "decided" | "preflight" | "too_few_runs" | "wide_interval" | "near_margin" | "unconfirmed_regression" | "unconfirmed_improvement" | "multiple_measures" | "time_order" | "buckets" | "failures" | "missing_values" | "few_values" | "unbounded" | "no_measures";
        VerdictEntry_runIds: string[];
        VerdictEntry_verdict: "regressed" | "improved" | "unchanged" | "suspect" | "undecided";
        VerdictName: "regressed" | "improved" | "unchanged" | "suspect" | "undecided";
        VerdictSummary: {
            at: string;
            baseline_run_ids: string[];
            left_out: string | null;
            reason: string;
            run_ids: string[];
            sentence: string;
            verdict: components["schemas"]["VerdictName"];
        };
        Zero: {
            measure_seconds: number | null;
            start: components["schemas"]["Instant"];
        };
    };
    responses: {
        NotModified: {
            headers: {
                [name: string]: unknown;
            };
            content?: never;
        };
        Problem: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
    };
    parameters: {
        family: string[];
        from: components["schemas"]["Moment"];
        gate: string[];
        group: string[];
        margin: string[];
        model: string[];
        q: string;
        quantity: components["schemas"]["Quantity"][];
        run: string;
        run_id: string[];
        scenario: string[];
        status: components["schemas"]["RunStatus"][];
        system: string[];
        tag: string[];
        target: string[];
        to: components["schemas"]["Moment"];
        tool: string[];
        verdict: components["schemas"]["VerdictName"][];
    };
    requestBodies: never;
    headers: {
        ETag: string;
    };
    pathItems: never;
}
export type $defs = Record<string, never>;
export interface operations {
    listAnnotations: {
        parameters: {
            query?: {
                from?: components["parameters"]["from"];
                group?: components["parameters"]["group"];
                kind?: ("run" | "phase" | "stage")[];
                limit?: number;
                model?: components["parameters"]["model"];
                q?: components["parameters"]["q"];
                run_id?: components["parameters"]["run_id"];
                scenario?: components["parameters"]["scenario"];
                status?: components["parameters"]["status"];
                system?: components["parameters"]["system"];
                tag?: components["parameters"]["tag"];
                to?: components["parameters"]["to"];
                tool?: components["parameters"]["tool"];
                verdict?: components["parameters"]["verdict"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Annotations"];
                };
            };
            304: components["responses"]["NotModified"];
            default: components["responses"]["Problem"];
        };
    };
    compareRuns: {
        parameters: {
            query: {
                a: components["schemas"]["Selectors"];
                across_scenarios?: "true" | "false";
                b: components["schemas"]["Selectors"];
                gate?: components["parameters"]["gate"];
                margin?: components["parameters"]["margin"];
                paired?: "true" | "false";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Comparison"];
                };
            };
            304: components["responses"]["NotModified"];
            default: components["responses"]["Problem"];
        };
    };
    getDescription: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/yaml": string;
                };
            };
        };
    };
    listRuns: {
        parameters: {
            query?: {
                from?: components["parameters"]["from"];
                group?: components["parameters"]["group"];
                limit?: number;
                model?: components["parameters"]["model"];
                page?: number;
                q?: components["parameters"]["q"];
                run_id?: components["parameters"]["run_id"];
                scenario?: components["parameters"]["scenario"];
                sort?: "start" | "-start" | "end" | "-end" | "duration" | "-duration" | "scenario" | "-scenario" | "model" | "-model" | "system" | "-system" | "tool" | "-tool" | "status" | "-status" | "verdict" | "-verdict" | "requests" | "-requests" | "time_to_first_token_p50" | "-time_to_first_token_p50" | "time_to_first_token_p99" | "-time_to_first_token_p99" | "inter_token_latency_p50" | "-inter_token_latency_p50" | "inter_token_latency_p99" | "-inter_token_latency_p99" | "request_latency_p50" | "-request_latency_p50" | "request_latency_p99" | "-request_latency_p99" | "request_throughput" | "-request_throughput" | "output_token_throughput" | "-output_token_throughput" | "error_ratio" | "-error_ratio" | "goodput" | "-goodput";
                status?: components["parameters"]["status"];
                system?: components["parameters"]["system"];
                tag?: components["parameters"]["tag"];
                to?: components["parameters"]["to"];
                tool?: components["parameters"]["tool"];
                verdict?: components["parameters"]["verdict"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RunPage"];
                };
            };
            304: components["responses"]["NotModified"];
            default: components["responses"]["Problem"];
        };
    };
    startRun: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["RunStart"];
            };
        };
        responses: {
            202: {
                headers: {
                    Location?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["StartedRun"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    getRun: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                run_id: components["parameters"]["run"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Run"];
                };
            };
            304: components["responses"]["NotModified"];
            default: components["responses"]["Problem"];
        };
    };
    getRunDistribution: {
        parameters: {
            query: {
                clock?: components["schemas"]["Clock"];
                measure: components["schemas"]["DistributionMeasure"];
                points?: number;
                population?: "ok" | "all";
            };
            header?: never;
            path: {
                run_id: components["parameters"]["run"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Distribution"];
                };
            };
            304: components["responses"]["NotModified"];
            default: components["responses"]["Problem"];
        };
    };
    getRunRecords: {
        parameters: {
            query?: {
                fields?: components["schemas"]["RecordField"][];
                limit?: number;
                outcome?: components["schemas"]["Outcome"][];
                phase?: components["schemas"]["PhaseName"][];
            };
            header?: never;
            path: {
                run_id: components["parameters"]["run"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Records"];
                };
            };
            304: components["responses"]["NotModified"];
            default: components["responses"]["Problem"];
        };
    };
    getRunSeries: {
        parameters: {
            query?: {
                family?: components["parameters"]["family"];
                points?: number;
                quantity?: components["parameters"]["quantity"];
                target?: components["parameters"]["target"];
            };
            header?: never;
            path: {
                run_id: components["parameters"]["run"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ServerSeries"];
                };
            };
            304: components["responses"]["NotModified"];
            default: components["responses"]["Problem"];
        };
    };
    getRunServers: {
        parameters: {
            query?: {
                family?: components["parameters"]["family"];
                quantity?: components["parameters"]["quantity"];
                target?: components["parameters"]["target"];
            };
            header?: never;
            path: {
                run_id: components["parameters"]["run"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ServersFile"];
                };
            };
            304: components["responses"]["NotModified"];
            default: components["responses"]["Problem"];
        };
    };
    changeRunTags: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                run_id: components["parameters"]["run"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["TagChange"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ChangedTags"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    listScenarios: {
        parameters: {
            query?: {
                limit?: number;
                page?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ScenarioPage"];
                };
            };
            304: components["responses"]["NotModified"];
            default: components["responses"]["Problem"];
        };
    };
    getScenario: {
        parameters: {
            query?: {
                gate?: components["parameters"]["gate"];
                limit?: number;
                margin?: components["parameters"]["margin"];
            };
            header?: never;
            path: {
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Scenario"];
                };
            };
            304: components["responses"]["NotModified"];
            default: components["responses"]["Problem"];
        };
    };
    changeBaseline: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                name: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["BaselineChange"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ChangedBaseline"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    listStarts: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Starts"];
                };
            };
            304: components["responses"]["NotModified"];
            default: components["responses"]["Problem"];
        };
    };
    getStart: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                run_id: components["parameters"]["run"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["StartedRun"];
                };
            };
            304: components["responses"]["NotModified"];
            default: components["responses"]["Problem"];
        };
    };
    getStatus: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Status"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    listSweeps: {
        parameters: {
            query?: {
                from?: components["parameters"]["from"];
                group?: components["parameters"]["group"];
                limit?: number;
                model?: components["parameters"]["model"];
                page?: number;
                q?: components["parameters"]["q"];
                run_id?: components["parameters"]["run_id"];
                scenario?: components["parameters"]["scenario"];
                status?: components["parameters"]["status"];
                system?: components["parameters"]["system"];
                tag?: components["parameters"]["tag"];
                to?: components["parameters"]["to"];
                tool?: components["parameters"]["tool"];
                verdict?: components["parameters"]["verdict"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SweepPage"];
                };
            };
            304: components["responses"]["NotModified"];
            default: components["responses"]["Problem"];
        };
    };
    getSweep: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                sweep_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Sweep"];
                };
            };
            304: components["responses"]["NotModified"];
            default: components["responses"]["Problem"];
        };
    };
    listValues: {
        parameters: {
            query?: {
                from?: components["parameters"]["from"];
                group?: components["parameters"]["group"];
                model?: components["parameters"]["model"];
                q?: components["parameters"]["q"];
                run_id?: components["parameters"]["run_id"];
                scenario?: components["parameters"]["scenario"];
                status?: components["parameters"]["status"];
                system?: components["parameters"]["system"];
                tag?: components["parameters"]["tag"];
                to?: components["parameters"]["to"];
                tool?: components["parameters"]["tool"];
                verdict?: components["parameters"]["verdict"];
            };
            header?: never;
            path: {
                name: components["schemas"]["ValueName"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Values"];
                };
            };
            304: components["responses"]["NotModified"];
            default: components["responses"]["Problem"];
        };
    };
}
