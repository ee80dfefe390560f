// The chart of docs/charts that shows workers of all contenders, from the rows that the bench has printed.

import { drawChart } from '../harness/chart.ts'
import type { Table } from '../harness/recorded.ts'

const WORKERS = /^worker, (?<inFlight>\d+) in flight$/
// Each line of the chart, and the variant whose rows it shows.
const LINES = {
  Perilune: 'Perilune',
  'floor: two bare scripts': 'the least that keeps the promises',
  'bee-queue': 'bee-queue',
  BullMQ: 'BullMQ',
}

/** File names with their content. */
export function drawCharts(tables: readonly Table[]): Record<string, string> {
  const measured = tables.filter(({ title }) => WORKERS.test(title))
  return {
    'queue-workers.svg': drawChart({
      title: 'Jobs that one worker finishes in a second',
      x: 'jobs in flight',
      y: 'jobs a second',
      lines: Object.entries(LINES).map(([name, variant]) => ({
        name,
        points: measured.map((table) => pointOf(table, variant)),
      })),
    }),
  }
}

function pointOf({ title, rows }: Table, variant: string): [x: number, y: number] {
  const row = rows.find((each) => each.variant === variant)
  return [Number(WORKERS.exec(title)?.groups?.['inFlight']), Number(row?.['jobsPerSecond'])]
}
