// The charts of docs/charts, from the rows that the bench has printed.

import { drawChart, type Line } from '../harness/chart.ts'
import type { Row } from '../harness/print.ts'
import { rowsOf, type Table } from '../harness/recorded.ts'
import { GROWTH } from './growth.ts'
import { FOLLOWING } from './observers.ts'

const PRODUCERS = / concurrent producers on one feed$/

/** File names with their content. */
export function drawCharts(tables: readonly Table[]): Record<string, string> {
  return {
    'feed-producers.svg': drawChart({
      title: 'Posts by many producers on one feed',
      x: 'producers',
      y: 'posts a second',
      lines: byProducers(tables),
    }),
    'feed-growth.svg': drawChart({
      title: 'A call while the feed grows',
      x: 'messages in the feed',
      y: 'µs inside the server',
      lines: rowsOf(tables, GROWTH).map(bySize),
    }),
    'feed-observers.svg': drawChart({
      title: 'A message to all observers of a feed',
      x: 'observers',
      y: 'ms until all have it; µs CPU each',
      lines: byObservers(rowsOf(tables, FOLLOWING)),
    }),
  }
}

function byProducers(tables: readonly Table[]): Line[] {
  const counts = tables.filter(({ title }) => PRODUCERS.test(title))
  const names = counts[0]?.rows.map(({ variant }) => variant) ?? []
  return names.map((name) => ({
    name,
    points: counts.map(({ title, rows }) => {
      const row = rows.find(({ variant }) => variant === name)
      return [Number.parseInt(title), Number(row?.['callsPerSecond'])]
    }),
  }))
}

function bySize({ variant, ...sizes }: Row): Line {
  return {
    name: variant,
    points: Object.entries(sizes).map(([size, us]) => [Number.parseInt(size), Number(us)]),
  }
}

function byObservers(rows: readonly Row[]): Line[] {
  const line = (name: string, column: string): Line => ({
    name,
    points: rows.map((row) => [Number(row.variant), Number(row[column])]),
  })
  return [
    line('ms until all have it', 'p50Ms'),
    line('µs server CPU each', 'serverCpuUsEach'),
    line('µs client CPU each', 'clientCpuUsEach'),
  ]
}
