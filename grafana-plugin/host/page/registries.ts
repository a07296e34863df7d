import {
  displayNameOverrideProcessor,
  FieldType,
  type FieldConfigPropertyItem,
  identityOverrideProcessor,
  numberOverrideProcessor,
  standardEditorsRegistry,
  standardFieldConfigEditorRegistry,
  unitOverrideProcessor,
  type StandardEditorsRegistryItem,
} from '@grafana/data';

const noEditor = () => null;
const EDITORS = [
  'boolean',
  'color',
  'fieldColor',
  'links',
  'mappings',
  'multi-select',
  'number',
  'radio',
  'select',
].concat(['slider', 'stats-picker', 'strings', 'text', 'thresholds', 'timezone', 'unit']);

/** Grafana registers these in its application, not in the published packages: without them units are ignored. */
export function registerStandards(): void {
  standardEditorsRegistry.setInit(() =>
    EDITORS.map((id): StandardEditorsRegistryItem => ({ id, name: id, editor: noEditor }))
  );
  standardFieldConfigEditorRegistry.setInit(() => [
    property('unit', unitOverrideProcessor),
    property('min', numberOverrideProcessor),
    property('max', numberOverrideProcessor),
    property('decimals', numberOverrideProcessor),
    property('displayName', displayNameOverrideProcessor),
    ...['color', 'noValue', 'links', 'mappings', 'thresholds', 'filterable'].map((id) =>
      property(id, identityOverrideProcessor)
    ),
  ]);
}

function property(id: string, process: FieldConfigPropertyItem['process']): FieldConfigPropertyItem {
  return {
    id,
    path: id,
    name: id,
    editor: noEditor,
    override: noEditor,
    process,
    settings: {},
    shouldApply: (field) => field.type !== FieldType.time,
  };
}
