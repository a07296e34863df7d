import {
  applyFieldOverrides,
  type DataFrame,
  EventBusSrv,
  type FieldConfigSource,
  getPanelOptionsWithDefaults,
  type GrafanaTheme2,
  type PanelPlugin,
  toDataFrame,
} from '@grafana/data';
import { PanelChrome } from '@grafana/ui';
import React from 'react';
import type { HostData } from './panel-data.ts';

interface Props {
  plugin: PanelPlugin;
  data: HostData;
  parameters: URLSearchParams;
  theme: GrafanaTheme2;
  width: number;
  height: number;
}

const eventBus = new EventBusSrv();

/** The panel in Grafana's frame, with the properties that a dashboard gives it. */
export function PanelHost({ plugin, data, parameters, theme, width, height }: Props) {
  const { options, fieldConfig } = getPanelOptionsWithDefaults({
    plugin,
    currentOptions: JSON.parse(parameters.get('options') ?? '{}'),
    currentFieldConfig: {
      defaults: JSON.parse(parameters.get('defaults') ?? '{}'),
      overrides: [],
    } as FieldConfigSource,
    isAfterPluginChange: false,
  });
  const series: DataFrame[] = applyFieldOverrides({
    data: data.series,
    fieldConfig,
    replaceVariables: (text) => text,
    theme,
    timeZone: 'utc',
    fieldConfigRegistry: plugin.fieldConfigRegistry,
  });
  // Grafana keeps annotations from panels that do not request them.
  const annotations = plugin.dataSupport?.annotations ? data.annotations.map((frame) => toDataFrame(frame)) : undefined;
  const Panel = plugin.panel;
  const { timeRange, targets, state, errors } = data;
  const zoom = ({ from, to }: { from: number; to: number }) => {
    const address = new URL(window.location.href);
    address.searchParams.set('from', String(from));
    address.searchParams.set('to', String(to));
    window.location.assign(address);
  };
  return (
    <PanelChrome
      title="Time to first token"
      width={width}
      height={height}
      loadingState={state}
      statusMessage={errors[0]?.message}
    >
      {(innerWidth, innerHeight) =>
        Panel && (
          <Panel
            id={1}
            title="Time to first token"
            data={{
              state,
              ...(errors.length > 0 && { errors, error: errors[0] }),
              series,
              timeRange,
              structureRev: 1,
              ...(annotations && { annotations }),
              // Of the request, the panel reads the targets.
              request: { targets } as never,
            }}
            timeRange={timeRange}
            timeZone="utc"
            options={options}
            fieldConfig={fieldConfig}
            transparent={false}
            width={innerWidth}
            height={innerHeight}
            renderCounter={0}
            replaceVariables={(text) => text}
            eventBus={eventBus}
            onOptionsChange={() => {}}
            onFieldConfigChange={() => {}}
            onChangeTimeRange={zoom}
          />
        )
      }
    </PanelChrome>
  );
}
