/** Skips the rendering of components whose props stay the same. */
import { type Component, createElement, type FunctionComponent, type JSX } from 'preact'

/**
 * A component that renders again only when one of its props is another value. An element kept by `useMemo` would do the same,
 * but it refers to the tree that it was first part of, and that to the trees before it: none of them could be freed.
 */
export function skippingSame<Props extends object>(part: FunctionComponent<Props>): FunctionComponent<Props> {
  return function Skipping(this: Component<Props>, props: Props): JSX.Element {
    this.shouldComponentUpdate = (next) => !isSame(this.props, next)
    return createElement(part, props)
  } as FunctionComponent<Props>
}

function isSame(one: object, other: object): boolean {
  const [before, after] = [Object.entries(one), Object.entries(other)]
  return (
    before.length === after.length &&
    before.every(([name, value]) => Object.is(value, (other as Record<string, unknown>)[name]))
  )
}
