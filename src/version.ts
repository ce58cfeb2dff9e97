/** The version of Windfall, which the build writes into the bundle. */
declare const BUNDLED_VERSION: string | undefined

export const version: string = typeof BUNDLED_VERSION === 'string' ? BUNDLED_VERSION : 'development'
