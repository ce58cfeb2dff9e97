/** A QR code. */
import type { JSX } from 'preact'
import { renderSVG } from 'uqr'

/** @param props.label what it is, for screen readers */
export const Qr = ({ text, label }: { text: string; label: string }): JSX.Element => (
  <img class="qr" alt={label} src={`data:image/svg+xml,${encodeURIComponent(renderSVG(text))}`} />
)
