import { FieldConfigProperty, PanelPlugin } from '@grafana/data';
import { buildOptions, type PercentilesOptions } from './options.ts';
import { PercentilesPanel } from './PercentilesPanel.tsx';

export const plugin = new PanelPlugin<PercentilesOptions>(PercentilesPanel)
  .setPanelOptions(buildOptions)
  .useFieldConfig({
    standardOptions: { [FieldConfigProperty.Unit]: { defaultValue: 's' } },
    disableStandardOptions: [
      FieldConfigProperty.Color,
      FieldConfigProperty.DisplayName,
      FieldConfigProperty.Filterable,
      FieldConfigProperty.Links,
      FieldConfigProperty.Mappings,
      FieldConfigProperty.NoValue,
      FieldConfigProperty.Thresholds,
    ],
  })
  // Without this Grafana keeps the run regions from the panel.
  .setDataSupport({ annotations: true, alertStates: false });
