/** The formula of a definition: what is calculated in a fixed-width font, the rest as prose. */
import type { JSX } from 'preact'
import { sentence } from '../words.ts'

/** Signs that make the first sentence of a definition a formula. */
const CALCULATION = /[Σ÷×−=]/

/** Splits a definition's text into its formula and the sentences that follow; without a formula, all is prose. */
export function formulaParts(text: string): { formula: string | null; prose: string } {
  const [first = '', ...others] = text.split(/(?<=\.) /)
  const isFormula = CALCULATION.test(first)
  const prose = (isFormula ? others : [first, ...others]).map(sentence).join(' ')
  return {
    formula: isFormula ? first.replace(/\.$/, '') : null,
    prose: prose === '' || /[.)]$/.test(prose) ? prose : `${prose}.`,
  }
}

export function Formula({ text }: { text: string }): JSX.Element {
  const { formula, prose } = formulaParts(text)
  return (
    <>
      {formula !== null && <span class="formula">{formula}</span>}
      {prose !== '' && <span class="formula-prose">{prose}</span>}
    </>
  )
}
