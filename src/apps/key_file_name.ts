/** The key id in the name of a key file from Apple, as in AuthKey_2X9R4HXF34.p8. */

/** The key id in a file name, or null. Also that of a second download, `AuthKey_2X9R4HXF34 (1).p8`. */
export const keyIdInName = (name: string): string | null =>
  /_([A-Z0-9]{8,20})(?: ?\(\d+\))?\.p8$/.exec(name)?.[1] ?? null
