/** The length limits of passwords, which the server and the dashboard's forms share. */

/** The minimum number of characters (code points). */
export const MIN_PASSWORD_CHARACTERS = 12
/** The maximum size in UTF-8 bytes. */
export const MAX_PASSWORD_BYTES = 512
