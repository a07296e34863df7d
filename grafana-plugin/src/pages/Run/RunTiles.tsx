import React from 'react';
import { css } from '@emotion/css';
import type { GrafanaTheme2 } from '@grafana/data';
import { TextLink, useStyles2 } from '@grafana/ui';
import { useLocation } from 'react-router-dom';
import type { RunResponse, RunSummary } from '../../../../core/api/runs.ts';
import { worstVerdict, type ObjectiveVerdict } from '../../../../core/run/objectives.ts';
import { countOf, FAILED_OUTCOMES } from '../../../../core/run/record.ts';
import type { DistributionResult, ResultFile } from '../../../../core/run/result.ts';
import { counted, quantity, quantityRange } from '../../../../core/text/quantities.ts';
import { durationText } from '../../charts/time-text.ts';
import { objectiveText, VerdictBadge } from '../../components/Badges.tsx';
import { Tile, Tiles } from '../../components/Tile.tsx';
import { distributionOf, measureName, scalarOf } from '../../components/measure-name.ts';
import { verdictUrl } from '../../components/run-link.ts';
import { liveFigures, progressText } from '../../components/run-progress.ts';
import { hasDocuments, latenciesOf } from '../../runs/latencies.ts';
import { t } from '../../text.ts';

/** The key numbers of a run. */
export function RunTiles({ response: { summary, result } }: { response: RunResponse }) {
  if (result === null) {
    return <LiveTiles run={summary} />;
  }
  const { requests } = result;
  const failed = countOf(requests, FAILED_OUTCOMES);
  const throughput = scalarOf(result, 'request_throughput')?.value;
  const documents = scalarOf(result, 'document_throughput')?.value ?? null;
  return (
    <Tiles>
      <Tile
        label={t('tiles.requests', 'Ok requests')}
        value={counted(requests.ok)}
        detail={[
          t('tiles.requests-detail', 'in {{window}}', { window: quantity(result.window.seconds, 'seconds') }),
          ...coolDownText(result),
        ].join(' · ')}
      />
      {latenciesOf(summary).map((latency) => (
        <LatencyTile
          key={latency}
          label={t('tiles.p99', '{{measure}} p99', { measure: measureName(latency) })}
          distribution={distributionOf(result, latency)}
        />
      ))}
      <Tile
        label={
          documents === null ? t('tiles.output', 'Output throughput') : t('tiles.documents', 'Document throughput')
        }
        value={
          documents === null
            ? quantity(scalarOf(result, 'output_token_throughput')?.value, 'tokens_per_second')
            : quantity(documents, 'documents_per_second')
        }
        detail={throughput == null ? '' : quantity(throughput, 'requests_per_second')}
      />
      <Tile
        label={t('tiles.errors', 'Errors')}
        value={quantity(scalarOf(result, 'error_ratio')?.value, 'ratio')}
        detail={t('tiles.errors-detail', '{{failed}} failed, {{cancelled}} cancelled', {
          failed: counted(failed),
          cancelled: counted(requests.cancelled),
        })}
        {...(failed !== null && failed > 0 && { mood: 'bad' as const })}
      />
      <GoodputTile result={result} />
      <ClientTile result={result} />
    </Tiles>
  );
}

/** What is known while a run lasts: its exact results come at its end. */
export function LiveTiles({ run }: { run: RunSummary }) {
  const { progress } = run;
  if (progress === null) {
    return (
      <Tiles>
        <Tile label={t('tiles.progress', 'Progress')} value={t('tiles.ending', 'ending')} />
      </Tiles>
    );
  }
  const { share, remainingSeconds, requestsPerSecond, tokensPerSecond, errorRatio } = liveFigures(progress);
  const failed = progress.requests_failed;
  const mean = t('tiles.so-far', 'mean of the measure phase so far');
  return (
    <Tiles>
      <Tile
        label={t('tiles.progress', 'Progress')}
        value={share === null ? counted(progress.requests_done) : quantity(share, 'ratio')}
        detail={progressText(progress)}
      />
      <Tile
        label={t('tiles.remaining', 'Time left')}
        value={durationText(remainingSeconds)}
        detail={
          remainingSeconds === null ? '' : t('tiles.remaining-detail', 'of the measure phase, at the pace so far')
        }
      />
      <Tile
        label={t('tiles.live-requests', 'Request throughput')}
        value={quantity(requestsPerSecond, 'requests_per_second')}
        detail={mean}
      />
      {!hasDocuments(run) && (
        <Tile
          label={t('tiles.output', 'Output throughput')}
          value={quantity(tokensPerSecond, 'tokens_per_second')}
          detail={mean}
        />
      )}
      <Tile
        label={t('tiles.errors', 'Errors')}
        value={quantity(errorRatio, 'ratio')}
        detail={t('tiles.live-failed', '{{failed}} failed', { failed: counted(failed) })}
        {...(failed > 0 && { mood: 'bad' as const })}
      />
    </Tiles>
  );
}

/** Its requests are in no measure. */
function coolDownText({ cool_down: coolDown }: ResultFile): string[] {
  return coolDown === undefined
    ? []
    : [t('tiles.cool-down', '{{ok}} more in the cool-down', { ok: counted(coolDown.ok) })];
}

function LatencyTile({ label, distribution }: { label: string; distribution: DistributionResult | null }) {
  const p99 = distribution?.percentiles.p99;
  const details = [
    t('tiles.median', 'p50 {{value}}', { value: quantity(distribution?.percentiles.p50.value, 'seconds') }),
    p99?.ci95
      ? t('tiles.ci95', '95 %: {{interval}}', { interval: quantityRange(p99.ci95, 'seconds') })
      : t('tiles.too-few', 'too few requests for an interval'),
  ];
  return (
    <Tile
      label={label}
      value={quantity(p99?.value, 'seconds')}
      detail={distribution ? details.join(' · ') : undefined}
      meaning={t(
        'tiles.exact',
        'Exact, over ok requests. The 95 % interval is the sampling uncertainty within this run; effective n = {{n}}.',
        { n: counted(distribution?.effective_n) }
      )}
    />
  );
}

/** The goodput with the objectives; without limits for each request there is no goodput, and the objectives stand alone. */
function GoodputTile({ result }: { result: ResultFile }) {
  const goodput = scalarOf(result, 'goodput')?.value;
  const verdict = worstVerdict(result.slos);
  const mood = verdict === 'not_met' && { mood: 'bad' as const };
  const ofAll = objectivesText(result.slos);
  if (goodput === undefined && verdict !== null) {
    return <Tile label={t('tiles.objectives', 'Objectives')} value={objectiveText(verdict)} detail={ofAll} {...mood} />;
  }
  return (
    <Tile
      label={t('tiles.goodput', 'Goodput')}
      value={quantity(goodput, 'requests_per_second')}
      detail={
        verdict !== null
          ? [t('tiles.objectives', 'Objectives'), ofAll].join(': ')
          : goodput === undefined
            ? t('tiles.no-goodput', 'no limits set')
            : quantity(scalarOf(result, 'good_request_ratio')?.value, 'ratio')
      }
      {...mood}
    />
  );
}

/** `1 met, 1 undecided`: those that none is are left out, but for the met ones. */
function objectivesText(slos: ResultFile['slos']): string {
  const count = (verdict: ObjectiveVerdict) => slos.filter((slo) => slo.verdict === verdict).length;
  const texts: Array<[number, string]> = [
    [count('not_met'), t('tiles.objectives-not-met', '{{count}} not met', { count: count('not_met') })],
    [count('undecided'), t('tiles.objectives-undecided', '{{count}} undecided', { count: count('undecided') })],
  ];
  return [
    t('tiles.objectives-met', '{{count}} met', { count: count('met') }),
    ...texts.filter(([n]) => n > 0).map(([, text]) => text),
  ].join(', ');
}

function ClientTile({ result: { client } }: { result: ResultFile }) {
  const texts = {
    ok: t('tiles.client-ok', 'fast enough'),
    saturated: t('tiles.client-saturated', 'saturated'),
    unknown: t('tiles.client-unknown', 'unknown'),
  };
  return (
    <Tile
      label={t('tiles.client', 'Client')}
      value={texts[client.verdict]}
      detail={
        client.verdict === 'saturated'
          ? t('tiles.client-limited', 'may have limited the measurement')
          : client.verdict === 'ok'
            ? t('tiles.client-detail', 'did not limit the measurement')
            : ''
      }
      {...(client.verdict === 'saturated' && { mood: 'warning' as const })}
      meaning={
        client.why ?? t('tiles.client-meaning', 'Whether the benchmark client was fast enough for valid measurements')
      }
    />
  );
}

/** The newest verdict of `llmbench check` on the run, with a link to its evidence; nothing for a run that was not judged. */
export function RunVerdict({ run }: { run: RunSummary }) {
  const styles = useStyles2(getStyles);
  const { search } = useLocation();
  // An exporter from before runs had verdicts leaves the member out.
  if (!run.verdict) {
    return null;
  }
  const { verdict, sentence } = run.verdict;
  const url = verdictUrl(run.verdict, search);
  return (
    <section className={styles.verdict} aria-label={t('run.verdict', 'Verdict')}>
      <VerdictBadge verdict={verdict} />
      <span>{sentence}</span>
      {url !== null && <TextLink href={url}>{t('run.compare', 'Compare with the baseline')}</TextLink>}
    </section>
  );
}

const getStyles = (theme: GrafanaTheme2) => ({
  verdict: css({ display: 'flex', flexWrap: 'wrap', alignItems: 'center', gap: theme.spacing(1), margin: 0 }),
});
