import {
  getPanelDataSummary,
  type GrafanaTheme2,
  PanelOptionsEditorBuilder,
  type PanelPlugin,
  type SelectableValue,
} from '@grafana/data';
import { Button, Combobox, Field, Input, RadioButtonGroup, Switch } from '@grafana/ui';
import React, { type ReactNode, useState } from 'react';
import { type HostData, loadData } from './panel-data.ts';
import { PanelHost } from './PanelHost.tsx';

interface Props {
  plugin: PanelPlugin;
  data: HostData;
  parameters: URLSearchParams;
  theme: GrafanaTheme2;
  width: number;
  height: number;
}

type Options = Record<string, unknown>;

/** What Grafana's editor has for a new panel: a query, the suggestions for its response, and the panel's options. */
export function PanelEditor({ plugin, data: awaited, parameters, theme, width, height }: Props) {
  const [query, setQuery] = useState('');
  const [data, setData] = useState(awaited);
  const [options, setOptions] = useState<Options | null>(null);
  const run = async () => {
    const asked = new URLSearchParams(parameters);
    asked.set('query', query);
    setData(await loadData(asked, width));
  };
  const suggestions = plugin.getSuggestions(getPanelDataSummary(data.series)) ?? [];
  const shown = new URLSearchParams(parameters);
  shown.set('options', JSON.stringify(options ?? {}));
  return (
    <>
      <Field label="Query">
        <Input id="query" value={query} onChange={({ currentTarget }) => setQuery(currentTarget.value)} />
      </Field>
      <Button onClick={() => void run()}>Run queries</Button>
      <div role="group" aria-label="Suggestions">
        {suggestions.map((suggestion) => (
          <Button
            key={suggestion.name}
            variant="secondary"
            onClick={() => setOptions((suggestion.options ?? {}) as Options)}
          >
            {suggestion.name}
          </Button>
        ))}
      </div>
      {options !== null && (
        <>
          <PanelHost key={shown.get('options')} {...{ plugin, data, theme, width, height }} parameters={shown} />
          <PanelOptions plugin={plugin} options={options} onChange={setOptions} />
        </>
      )}
    </>
  );
}

interface OptionsProps {
  plugin: PanelPlugin;
  options: Options;
  onChange: (options: Options) => void;
}

/** The panel's options, each with its own editor or with the control that Grafana has for its kind. */
function PanelOptions({ plugin, options, onChange }: OptionsProps) {
  const builder = new PanelOptionsEditorBuilder<Options>();
  plugin.getPanelOptionsSupplier()(builder, { data: [], options });
  const all = { ...(plugin.defaults as Options), ...options };
  return (
    <div role="group" aria-label="Options">
      {builder
        .getItems()
        .filter(({ showIf }) => showIf?.(all) ?? true)
        .map((item) => {
          const value = all[item.path];
          const change = (next: unknown) => onChange({ ...options, [item.path]: next });
          const Editor = item.editor;
          const own = standardControl(item.id, { value, change, settings: item.settings, name: item.name });
          return (
            <Field key={item.id} label={item.name}>
              <div>
                {own ?? <Editor value={value} onChange={change} item={item} context={{ data: [], options: all }} />}
              </div>
            </Field>
          );
        })}
    </div>
  );
}

interface Control {
  value: unknown;
  change: (next: unknown) => void;
  settings: unknown;
  name: string;
}

/** Null for an option whose editor the plugin brings itself. */
function standardControl(id: string, { value, change, settings, name }: Control): ReactNode {
  const { options: choices } = (settings ?? {}) as { options?: Array<SelectableValue<unknown>> };
  if (id === 'percentiles') {
    return null;
  }
  if (typeof value === 'boolean') {
    return <Switch value={value} onChange={({ currentTarget }) => change(currentTarget.checked)} aria-label={name} />;
  }
  if (choices && typeof value === 'number') {
    return (
      <Combobox
        options={choices.map(({ value: one, label }) => ({ value: one as number, label: label ?? '' }))}
        value={value}
        onChange={({ value: next }) => change(next)}
      />
    );
  }
  if (choices) {
    return <RadioButtonGroup options={choices} value={value} onChange={change} />;
  }
  return (
    <Input
      aria-label={name}
      type="number"
      onChange={({ currentTarget }) => change(currentTarget.value === '' ? undefined : Number(currentTarget.value))}
    />
  );
}
