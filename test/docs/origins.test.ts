// The figures of docs/origins.md, and those of the claims in bench/RESULTS.md, are in the measured tables of RESULTS.md.

import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'

const FIGURE = /^\d[\d,]*(?:\.(?<digits>\d+))?$/
const FIGURES_IN_TEXT = /(?<![\w.])\d[\d,]*(?:\.\d+)?(?!\w)/g
/** Of the claims: what Perilune, its peer, its floor and its goal have. */
const CLAIMED = { from: 1, to: 5 }
/** Stands before the tables that benches write. */
const FIRST_MARKER = '<!-- feed -->'

interface Figure {
  readonly text: string
  readonly value: number
  /** After the point. */
  readonly digits: number
}

function pageOf(path: string): string {
  return readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8')
}

function cellsOf(text: string): string[][] {
  const rows = text.split('\n').filter((line) => line.startsWith('|'))
  return rows.map((row) =>
    row
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim()),
  )
}

function toFigure(text: string): Figure[] {
  const digits = FIGURE.exec(text)?.groups?.['digits']?.length ?? 0
  return FIGURE.test(text) ? [{ text, value: Number(text.replaceAll(',', '')), digits }] : []
}

const [claims = '', sections = ''] = pageOf('bench/RESULTS.md').split(FIRST_MARKER)
const measured = cellsOf(sections).flat().flatMap(toFigure)

function isMeasured({ value, digits }: Figure): boolean {
  return measured.some((each) => Number(each.value.toFixed(digits)) === value)
}

test('every figure in a table of the origins is measured, but for the published ones', () => {
  const figures = cellsOf(pageOf('docs/origins.md'))
    .filter(([name = '']) => !name.startsWith('published') && name !== 'clients')
    .flatMap((cells) => cells.slice(1).flatMap(toFigure))

  expect(figures.length).toBeGreaterThan(30)
  expect(figures.filter((each) => !isMeasured(each)).map(({ text }) => text)).toEqual([])
})

test('every figure of a claim is measured', () => {
  const figures = cellsOf(claims)
    .slice(2)
    .flatMap((cells) => cells.slice(CLAIMED.from, CLAIMED.to))
    .flatMap(
      (cell) =>
        cell
          .replaceAll(/[≤≥] [\d.,]+/g, '')
          .replaceAll(', ', ' ')
          .match(FIGURES_IN_TEXT) ?? [],
    )
    .flatMap(toFigure)

  expect(figures.length).toBeGreaterThan(100)
  expect(figures.filter((each) => !isMeasured(each)).map(({ text }) => text)).toEqual([])
})
