/**
 * A greater number, by a random step of up to `most`: an older copy of the database that continues by itself gives
 * other numbers.
 */
export function beyond(number: number, most: number): number {
  return number + 1 + Math.floor(Math.random() * most)
}
