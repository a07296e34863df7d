import { FieldConfigProperty, PanelPlugin, ThresholdsMode } from '@grafana/data';
import { initPluginTranslations } from '@grafana/i18n';
import { PLUGIN_ID } from '../../constants.ts';
import { migrateOptions, buildOptions, type PercentilesOptions } from './options.tsx';
import { PercentilesPanel } from './PercentilesPanel.tsx';
import { suggestions } from './suggestions.ts';

// Grafana has initialized translations by now; this registers the plugin's texts before the first one is used.
void initPluginTranslations(PLUGIN_ID);

export const plugin = new PanelPlugin<PercentilesOptions>(PercentilesPanel)
  .setPanelOptions(buildOptions)
  .useFieldConfig({
    standardOptions: {
      [FieldConfigProperty.Unit]: { defaultValue: 's' },
      [FieldConfigProperty.Thresholds]: {
        defaultValue: { mode: ThresholdsMode.Absolute, steps: [{ value: -Infinity, color: 'green' }] },
      },
    },
    disableStandardOptions: [
      FieldConfigProperty.Color,
      FieldConfigProperty.Filterable,
      FieldConfigProperty.Mappings,
      FieldConfigProperty.NoValue,
    ],
  })
  .setMigrationHandler(migrateOptions)
  .setSuggestionsSupplier(suggestions)
  // Without this Grafana keeps the run regions from the panel.
  .setDataSupport({ annotations: true, alertStates: false });
