/** The `module` of an AMD loader, and what webpack replaces. */
declare module 'amd-module' {
  const module: { readonly uri?: string } | undefined;
  export default module;
}

declare let __webpack_public_path__: string;
