/** What may be wider than the page: scrolls by itself, and is reached by the keyboard. */
import type { ComponentChildren, JSX } from 'preact'

export const Scroll = ({ label, children }: { label: string; children: ComponentChildren }): JSX.Element => (
  // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by the keyboard
  <section class="table-wrap" tabIndex={0} aria-label={label}>
    {children}
  </section>
)
