import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import CopyWebpackPlugin from 'copy-webpack-plugin';
import TerserPlugin from 'terser-webpack-plugin';
import { SubresourceIntegrityPlugin } from 'webpack-subresource-integrity';
import { ThirdPartyLicenses } from './build/third-party-licenses.ts';

/**
 * The build of `@grafana/create-plugin` 7.1.7, without what this plugin has no use for. Compare it with a new scaffold when
 * Grafana requires another build.
 */
const { version } = JSON.parse(readFileSync(resolve('package.json'), 'utf8'));
const { id } = JSON.parse(readFileSync(resolve('src/plugin.json'), 'utf8'));

/** What Grafana has loaded already and shares with plugins. */
const SHARED = [
  // Of the module's own address, by which `public-path.ts` finds the other files.
  { 'amd-module': 'module' },
  'lodash',
  'jquery',
  'moment',
  'slate',
  'emotion',
  '@emotion/react',
  '@emotion/css',
  'prismjs',
  'slate-plain-serializer',
  '@grafana/slate-react',
  'react',
  'react/jsx-runtime',
  'react/jsx-dev-runtime',
  'react-dom',
  'react-redux',
  'redux',
  'rxjs',
  'i18next',
  'react-router',
  'd3',
  'angular',
  /^@grafana\/ui/i,
  /^@grafana\/runtime/i,
  /^@grafana\/data/i,
  ({ request }, callback) =>
    request?.startsWith('grafana/') ? callback(undefined, request.slice('grafana/'.length)) : callback(),
];

/** What Grafana reads of the plugin, with the values that only the build knows. */
function withBuildValues(json, mode) {
  const today = new Date().toISOString().slice(0, 10);
  const text = json.toString().replaceAll('%VERSION%', version).replaceAll('%TODAY%', today);
  return JSON.stringify({ ...JSON.parse(text.replaceAll('%PLUGIN_ID%', id)), buildMode: mode }, null, 4);
}

/**
 * @param {{production?: boolean}} env
 * @returns {import('webpack').Configuration}
 */
const config = (env) => {
  const mode = env.production ? 'production' : 'development';
  const entry = (folder) => [resolve('build/public-path.ts'), resolve('src', folder)];
  return {
    mode,
    cache: { type: 'filesystem', buildDependencies: { config: [resolve('webpack.config.mjs')] } },
    context: resolve('src'),
    devtool: env.production ? 'source-map' : 'eval-source-map',
    entry: {
      module: entry('module.tsx'),
      'datasources/runs/module': entry('datasources/runs/module.ts'),
      'panels/percentiles/module': entry('panels/percentiles/module.ts'),
    },
    externals: SHARED,
    module: {
      rules: [
        {
          exclude: /(node_modules)/,
          test: /\.[tj]sx?$/,
          use: {
            loader: 'swc-loader',
            options: { jsc: { target: 'es2015', parser: { syntax: 'typescript', tsx: true, dynamicImport: true } } },
          },
        },
      ],
    },
    optimization: {
      minimize: Boolean(env.production),
      minimizer: [
        new TerserPlugin({
          extractComments: false,
          terserOptions: { format: { comments: false }, compress: { drop_console: ['log', 'info'] } },
        }),
      ],
    },
    output: {
      clean: true,
      filename: '[name].js',
      chunkFilename: env.production ? '[name].js?_cache=[contenthash]' : '[name].js',
      library: { type: 'amd' },
      path: resolve('dist'),
      publicPath: `public/plugins/${id}/`,
      uniqueName: id,
      crossOriginLoading: 'anonymous',
    },
    plugins: [
      new ThirdPartyLicenses(),
      new CopyWebpackPlugin({
        patterns: [
          { from: resolve('README.md') },
          { from: resolve('LICENSE') },
          { from: resolve('CHANGELOG.md') },
          { from: '**/*.json', globOptions: { ignore: ['**/plugin.json'] } },
          { from: '**/plugin.json', transform: (json) => withBuildValues(json, mode) },
          { from: 'img/*' },
          { from: '{panels,datasources}/*/img/*' },
          { from: resolve('../docs/runbooks/*.md'), to: 'runbooks/[name][ext]' },
        ],
      }),
      new SubresourceIntegrityPlugin({ hashFuncNames: ['sha256'] }),
    ],
    resolve: { extensions: ['.js', '.jsx', '.ts', '.tsx'], unsafeCache: true },
  };
};

export default config;
