/** A scrollable region that is reachable by keyboard. */
import type { ComponentChildren, JSX } from 'preact'

type ScrollProps = { label: string; class?: string; children: ComponentChildren }

export const Scroll = ({ label, class: className, children }: ScrollProps): JSX.Element => (
  // biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable regions must be reachable by keyboard
  <section class={className ? `table-wrap ${className}` : 'table-wrap'} tabIndex={0} aria-label={label}>
    {children}
  </section>
)
