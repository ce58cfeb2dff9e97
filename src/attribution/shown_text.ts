/** Text that a caller reports, as it can be shown: without characters that hide, or that reorder the text around them. */

/**
 * Control and format characters, and the separators of lines and paragraphs. Joiners stay where they have an effect: in
 * scripts such as those of Persian and Hindi, and in emoji.
 */
const HIDDEN =
  /(?!(?<=[^\0-\x7f\p{Cc}\p{Cf}])[\u200c\u200d](?=[^\0-\x7f\p{Cc}\p{Cf}]))[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu

/** The text without such characters; a space for each line break or tab. */
export const shownText = (text: string): string =>
  text.replace(HIDDEN, (hidden) => (/\s/.test(hidden) ? ' ' : '')).trim()

/** Whether a text has such characters. */
export const hasHidden = (text: string): boolean => text.search(HIDDEN) !== -1
