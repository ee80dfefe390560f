/** `1 key`, `3 keys`. */
export function count(number: number, noun: string): string {
  return `${number.toLocaleString('en')} ${noun}${number === 1 ? '' : 's'}`
}

export function bytes(number: number): string {
  const units = ['bytes', 'KiB', 'MiB', 'GiB', 'TiB']
  const rank = Math.min(units.length - 1, Math.floor(Math.log2(Math.max(1, number)) / 10))
  const value = number / 1024 ** rank
  return `${rank === 0 || value >= 100 ? Math.round(value) : value.toFixed(1)} ${units[rank]}`
}

/** `1.5 ms`, `12 s`, `5 min`, `3 h`, `9 days`. */
export function span(ms: number): string {
  if (ms < 1000) return `${ms < 10 ? ms.toFixed(1) : Math.round(ms)} ms`
  const seconds = ms / 1000
  if (seconds < 120) return `${seconds < 10 ? seconds.toFixed(1) : Math.round(seconds)} s`
  if (seconds < 7200) return `${Math.round(seconds / 60)} min`
  if (seconds < 172_800) return `${Math.round(seconds / 3600)} h`
  return `${Math.round(seconds / 86_400)} days`
}

export function percent(part: number, whole: number): string {
  return `${Math.round((100 * part) / whole)} %`
}
