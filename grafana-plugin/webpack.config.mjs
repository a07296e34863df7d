import { resolve } from 'node:path';
import CopyWebpackPlugin from 'copy-webpack-plugin';
import type { Configuration } from 'webpack';
import { merge } from 'webpack-merge';
import scaffoldConfig, { type Env } from './.config/webpack/webpack.config.ts';
import { ThirdPartyLicenses } from './build/third-party-licenses.ts';

/**
 * The scaffold's configuration; it copies the root plugin's logos only, so the nested ones are added, the runbooks of the alerts,
 * and the licenses of what is bundled.
 */
const config = async (env: Env): Promise<Configuration> =>
  merge(await scaffoldConfig(env), {
    plugins: [
      new ThirdPartyLicenses(),
      new CopyWebpackPlugin({
        patterns: [
          { from: '{panels,datasources}/**/img/*', to: '[path][name][ext]' },
          { from: resolve('../docs/runbooks/*.md'), to: 'runbooks/[name][ext]' },
        ],
      }),
    ],
  });

export default config;
