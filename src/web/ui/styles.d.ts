/** Style sheets are side-effect imports; the build bundles them. */
declare module '*.css'
