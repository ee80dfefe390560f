// The results that docs/origins.md states are those of bench/RESULTS.md.

import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'

const FIGURE = /^\d[\d,]*(?:\.(?<digits>\d+))?$/

interface Figure {
  readonly text: string
  readonly value: number
  /** Digits after the point. */
  readonly digits: number
}

function cellsOf(page: string): string[][] {
  const text = readFileSync(new URL(`../../${page}`, import.meta.url), 'utf8')
  const rows = text.split('\n').filter((line) => line.startsWith('| '))
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

test('every figure in a table of the origins is measured, except the published ones', () => {
  const measured = cellsOf('bench/RESULTS.md').flat().flatMap(toFigure)
  const figures = cellsOf('docs/origins.md')
    .filter(([name = '']) => !name.startsWith('published') && name !== 'clients')
    .flatMap((cells) => cells.slice(1).flatMap(toFigure))

  const isMeasured = ({ value, digits }: Figure): boolean =>
    measured.some((each) => Number(each.value.toFixed(digits)) === value)
  expect(figures.length).toBeGreaterThan(30)
  expect(figures.filter((each) => !isMeasured(each)).map(({ text }) => text)).toEqual([])
})
