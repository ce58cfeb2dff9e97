/** Keys as they are printed on a keyboard. */
import type { JSX } from 'preact'

/** `g r` as G, then R. */
export const Keys = ({ keys }: { keys: string }): JSX.Element => {
  const [first = '', second] = keys.split(' ')
  return (
    <span class="keys">
      <kbd>{first.toUpperCase()}</kbd>
      {second && (
        <>
          <span class="spoken"> then </span>
          <kbd>{second.toUpperCase()}</kbd>
        </>
      )}
    </span>
  )
}
