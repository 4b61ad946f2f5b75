const bars = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/** A row of bars, the highest value a full one; 0 is a blank, so that nothing looks like nothing. */
export function renderSparkline(values: readonly number[]): string {
  const most = Math.max(0, ...values);
  return values
    .map((value) => {
      if (value <= 0 || most === 0) return ' ';
      return bars[Math.min(bars.length - 1, Math.floor((value / most) * bars.length))] ?? ' ';
    })
    .join('');
}
