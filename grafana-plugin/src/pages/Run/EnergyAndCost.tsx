import { css } from '@emotion/css';
import type { GrafanaTheme2 } from '@grafana/data';
import { useStyles2 } from '@grafana/ui';
import React from 'react';
import { currencyOf } from '../../../../core/measures/energy-results.ts';
import { coolDownCount } from '../../../../core/run/record.ts';
import type { EnergyOfGpu, GpuEnergy, ResultFile, ScalarResult } from '../../../../core/run/result.ts';
import { moneyText, ABSENT, counted, quantity } from '../../../../core/text/quantities.ts';
import { DataTable } from '../../components/DataTable.tsx';
import { Section } from '../../components/Section.tsx';
import { Tile, Tiles } from '../../components/Tile.tsx';
import { scalarOf } from '../../components/measure-name.ts';
import { t } from '../../text.ts';

/** What the GPUs took and cost; nothing for a run without metrics of GPUs and without a price. */
export function EnergyAndCost({ result }: { result: ResultFile }) {
  const styles = useStyles2(getStyles);
  const energy = result.servers?.gpu_energy ?? null;
  const [output, total] = [cost(result, 'output'), cost(result, 'total')];
  const coolDown = coolDownCount(result.cool_down);
  if (energy === null && output === null) {
    return null;
  }
  return (
    <Section title={t('energy.title', 'Energy and cost')}>
      <Tiles>
        <EnergyTiles energy={energy} result={result} />
        <Tile
          label={t('energy.cost', 'Cost per million output tokens')}
          value={money(output)}
          detail={
            output === null
              ? t('energy.no-price', 'requires --gpu-hour-price')
              : output.value === null
                ? t('energy.no-gpus', 'the number of GPUs (--gpu-count) or of tokens is not known')
                : t('energy.cost-total', '{{cost}} per million tokens in total', { cost: money(total) })
          }
          meaning={t(
            'energy.cost-meaning',
            'GPUs × price of a GPU hour, at the throughput of the run, over ok requests.'
          )}
        />
      </Tiles>
      {energy !== null && coolDown > 0 && (
        <p className={styles.note}>
          {t(
            'energy.cool-down',
            'The energy includes that of {{n}} requests of the cool-down, whose tokens are not counted.',
            { n: counted(coolDown) }
          )}
        </p>
      )}
      {energy !== null && energy.by_gpu.length > 1 && (
        <div className={styles.table}>
          <GpuTable gpus={energy.by_gpu} />
        </div>
      )}
    </Section>
  );
}

function EnergyTiles({ energy, result }: { energy: GpuEnergy | null; result: ResultFile }) {
  const perToken = (of: string) =>
    quantity(scalarOf(result, `energy_per_${of}_token`, 'server')?.value, 'joules_per_token');
  const noGpus = t('energy.no-page', 'requires the metrics page of the GPUs (--server-metrics)');
  return (
    <>
      <Tile
        label={t('energy.per-output', 'Energy per output token')}
        value={perToken('output')}
        detail={energy === null ? noGpus : t('energy.per-total', '{{energy}} in total', { energy: perToken('total') })}
        meaning={t('energy.per-token-meaning', 'Energy of all GPUs ÷ tokens of ok requests; idle power is included.')}
      />
      <Tile
        label={t('energy.power', 'Mean power')}
        value={quantity(energy?.watts, 'watts')}
        detail={energy === null ? '' : sourceText(energy)}
      />
      <Tile
        label={t('energy.idle', 'Idle power before the run')}
        value={quantity(energy?.idle_watts, 'watts')}
        meaning={t(
          'energy.idle-meaning',
          'Lowest power of each GPU before the first request, summed; not known unless the servers were idle.'
        )}
      />
      <Tile label={t('energy.energy', 'Energy')} value={quantity(energy?.joules, 'joules')} />
    </>
  );
}

function sourceText({ gpus, source }: GpuEnergy): string {
  const count = t('energy.gpus', '{{gpus}} GPUs', { gpus: counted(gpus) });
  switch (source) {
    case 'energy_counter':
      return [count, t('energy.from-counter', 'from energy counters')].join(' · ');
    case 'power':
      return [count, t('energy.from-power', 'from power over time')].join(' · ');
    case null:
      return count;
  }
}

function GpuTable({ gpus }: { gpus: readonly EnergyOfGpu[] }) {
  return (
    <DataTable
      label={t('energy.by-gpu', 'Energy of each GPU')}
      rows={gpus}
      rowKey={({ gpu }) => gpu}
      columns={[
        { id: 'gpu', header: t('energy.gpu', 'GPU'), render: ({ gpu }) => <code>{gpu}</code> },
        { id: 'model', header: t('energy.model', 'Model'), render: ({ model }) => model ?? ABSENT },
        number('joules', t('energy.energy', 'Energy'), ({ joules }) => quantity(joules, 'joules')),
        number('watts', t('energy.power', 'Mean power'), ({ watts }) => quantity(watts, 'watts')),
        number('idle', t('energy.idle', 'Idle power before the run'), ({ idle_watts: idle }) =>
          quantity(idle, 'watts')
        ),
      ]}
    />
  );
}

function number(id: string, header: string, render: (gpu: EnergyOfGpu) => string) {
  return { id, header, align: 'right' as const, render };
}

function cost(result: ResultFile, tokens: 'output' | 'total'): ScalarResult | null {
  return scalarOf(result, `cost_per_million_${tokens}_tokens`);
}

function money(cost: ScalarResult | null): string {
  return cost?.value == null ? ABSENT : moneyText(cost.value, currencyOf(cost));
}

const getStyles = (theme: GrafanaTheme2) => ({
  note: css({ ...theme.typography.bodySmall, color: theme.colors.text.secondary, margin: theme.spacing(1.5, 0, 0) }),
  table: css({ marginTop: theme.spacing(1.5) }),
});
