// The chart of the README, from the rows that the bench has printed.

import { type BarGroup, drawBars } from '../harness/bar-chart.ts'
import { rowsOf, type Table } from '../harness/recorded.ts'

const SHOWN = new Set(['BullMQ', 'bee-queue', 'Perilune'])

/** File names with their content. */
export function drawCharts(tables: readonly Table[]): Record<string, string> {
  const group = (name: string, title: string, column: string): BarGroup => ({
    name,
    bars: rowsOf(tables, title)
      .filter(({ variant }) => SHOWN.has(variant))
      .map((row) => ({ name: row.variant, value: Number(row[column]) })),
  })
  return {
    'queue-peers.svg': drawBars({
      title: 'Jobs a second, one process, one Redis',
      ours: 'Perilune',
      groups: [
        group('A worker with 50 jobs in flight', 'worker, 50 in flight', 'jobsPerSecond'),
        group('Single adds, 100 in flight', 'add, 100 in flight', 'callsPerSecond'),
        group('Bulk adds of 1,000', 'add in bulk, 1000 a call', 'jobsPerSecond'),
      ],
    }),
  }
}
