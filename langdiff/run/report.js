// Click a column's head to sort by it; again to turn the order round.
document.querySelectorAll("table.sortable thead th").forEach((head) => {
  head.tabIndex = 0;
  const sort = () => {
    const body = head.closest("table").tBodies[0];
    const column = [...head.parentNode.children].indexOf(head);
    const order = head.getAttribute("aria-sort") === "descending" ? "ascending" : "descending";
    const sign = order === "ascending" ? 1 : -1;
    const value = (row) => row.cells[column].dataset.value ?? row.cells[column].textContent;
    const compare = (a, b) => {
      const [x, y] = [value(a), value(b)];
      return sign * (isNaN(x) || isNaN(y) ? String(x).localeCompare(String(y)) : x - y);
    };
    [...head.parentNode.children].forEach((other) => other.removeAttribute("aria-sort"));
    head.setAttribute("aria-sort", order);
    [...body.rows].sort(compare).forEach((row) => body.append(row));
  };
  head.addEventListener("click", sort);
  head.addEventListener("keydown", (event) => event.key === "Enter" && sort());
});
