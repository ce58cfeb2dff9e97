/** The name of a product that has none in App Store Connect’s catalogue. */

/** A readable product name: `Pro Yearly` for `com.example.tides.pro_yearly` in the app `com.example.tides`. */
export function productName(id: string, bundle: string | undefined): string {
  const productPart = bundle !== undefined && id.startsWith(`${bundle}.`) ? id.slice(bundle.length + 1) : id
  const segments = productPart.replace(/^(com|org|net|io|app|dev)\.[^.]+\./, '').split(/[._\-\s]+/)
  return segments
    .filter((word) => word !== '')
    .map((word) => word[0]?.toUpperCase() + word.slice(1))
    .join(' ')
}
