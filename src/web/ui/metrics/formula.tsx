/** The formula of a definition: what is calculated in a fixed-width font, the rest as prose. */
import type { JSX } from 'preact'
import { formulaParts } from './definitions.ts'

export function Formula({ text }: { text: string }): JSX.Element {
  const { formula, prose } = formulaParts(text)
  return (
    <>
      {formula !== null && <span class="formula">{formula}</span>}
      {prose !== '' && <span class="formula-prose">{prose}</span>}
    </>
  )
}
