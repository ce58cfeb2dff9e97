/** The function of postject that the build uses; the package has no types. */
declare module 'postject' {
  export function inject(
    file: string,
    resource: string,
    content: Uint8Array,
    options: { sentinelFuse: string },
  ): Promise<void>
}
