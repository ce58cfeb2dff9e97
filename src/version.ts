/** Which Windfall this is: written into the bundle when it is built. */
declare const BUNDLED_VERSION: string | undefined

export const version: string = typeof BUNDLED_VERSION === 'string' ? BUNDLED_VERSION : 'development'
